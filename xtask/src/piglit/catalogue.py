"""Prints the tests of piglit profiles, one JSON array [name, command, env, cwd, other platforms] a line.

Arguments: piglit's data directory, then profile names. A test that several profiles hold is printed once. The last item
names the platforms of a test that piglit itself skips on the platform of the environment, and is null for all others.
"""
import json
import os
import sys


def main():
    sys.path.insert(0, sys.argv[1])
    from framework import core, profile
    core.get_config()
    platform = os.environ["PIGLIT_PLATFORM"]
    seen = set()
    for profile_name in sys.argv[2:]:
        for name, test in profile.load_test_profile(profile_name).itertests():
            if name in seen:
                continue
            seen.add(name)
            command = [str(word) for word in test.command]
            env = {str(key): str(value) for key, value in (test.env or {}).items()}
            required = getattr(test, "require_platforms", [])
            others = required if required and platform not in required else None
            if platform in getattr(test, "exclude_platforms", []):
                others = ["another"]
            print(json.dumps([name, command, env, str(test.cwd) if test.cwd else None, others]))


main()
