"""`python -m pipeline.cli`: the command without an installed script."""

import sys

from pipeline.cli import main

sys.exit(main())
