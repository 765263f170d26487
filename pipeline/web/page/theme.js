// Sets the remembered theme before anything is painted.
const theme = localStorage.getItem("rolestream.theme");
if (theme === "light" || theme === "dark") document.documentElement.dataset.theme = theme;
