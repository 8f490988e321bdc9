"""The DOOM tests need the game engine; without it they are not collected."""

from importlib.util import find_spec

if any(find_spec(name) is None for name in ("vizdoom", "gymnasium", "cv2")):
    collect_ignore_glob = ["test_*.py"]
