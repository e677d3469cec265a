import { homedir } from 'node:os'
import { join } from 'node:path'
import { aptGet, aptGetAsRoot } from '../processes/apt-get.ts'
import { findInPath, isExecutable } from '../processes/find-in-path.ts'

/** In the order in which they are looked for in PATH. */
const PROGRAMS = ['chromium-headless-shell', 'chromium', 'google-chrome']

/**
 * Sees to it that `startBrowser` works on this machine: takes the Chromium in PATH, else installs Debian's
 * `chromium-headless-shell` (as root, or where sudo asks for no password), else downloads that package, with the libraries
 * that are missing, and unpacks it in the user's cache. Resolves with its path. When nothing helps it throws, with what was
 * tried and what to do.
 */
export async function ensureChromium(): Promise<string> {
  const here = findChromium()
  if (here !== undefined) return here
  const failures: string[] = []
  for (const way of [installPackage, unpackPackage]) {
    failures.push(...(await way()))
    const found = findChromium()
    if (found !== undefined) return found
  }
  throw new ChromiumMissing([...new Set(failures)])
}

/** The browser itself, in the folder that its package is unpacked in. */
const UNPACKED = 'root/usr/lib/chromium/chromium-headless-shell'

/** Returns what is here already; nothing is installed or downloaded. */
export function findChromium(): string | undefined {
  const inPath = PROGRAMS.map(findInPath).find((path) => path !== undefined)
  if (inPath !== undefined) return inPath
  const launcher = join(unpackedFolder(), PROGRAMS[0]!)
  // Of a cache that was cleaned in part the launcher may be left alone.
  return [launcher, join(unpackedFolder(), UNPACKED)].every(isExecutable) ? launcher : undefined
}

/** No Chromium is here, and none could be got. */
export class ChromiumMissing extends Error {
  constructor(failures: readonly string[] = []) {
    super(
      [
        `Chromium is missing: none of ${PROGRAMS.join(', ')} in PATH.`,
        ...failures.map((failure) => `  ${failure}`),
        'To get it: sudo apt-get install chromium-headless-shell (Debian), or put any Chrome or Chromium into PATH as chromium, and run the tests again.',
      ].join('\n'),
    )
    this.name = 'ChromiumMissing'
  }
}

function installPackage(): Promise<string[]> {
  return aptGetAsRoot(INSTALL_SCRIPT, INSTALL_TIMEOUT_MS)
}

/** Downloads and unpacks, which needs no rights. Exported for its test. */
export function unpackPackage(folder = unpackedFolder()): Promise<string[]> {
  return aptGet(['sh', '-c', UNPACK_SCRIPT, 'sh', folder], INSTALL_TIMEOUT_MS)
}

function unpackedFolder(): string {
  return join(process.env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'webloom-testkit/chromium')
}

/*
 * Two test runs may come here at once: the second waits for the first and then finds the binary. Without any font a page
 * has no words.
 */
const INSTALL_SCRIPT = `
set -e
exec 9>/run/webloom-chromium-install.lock
flock -w 600 9
if command -v chromium-headless-shell >/dev/null; then exit 0; fi
export DEBIAN_FRONTEND=noninteractive
timeout 300 apt-get update -qq
timeout 600 apt-get install -qq --no-install-recommends -o DPkg::Lock::Timeout=120 chromium-headless-shell fonts-dejavu-core
command -v chromium-headless-shell >/dev/null
`

/*
 * apt-get with lists of its own, as those of the system may be old and only root can renew them. What is installed it knows
 * from the system, and names what is missing; the browser's own two packages are wanted in any case. Where fonts are among it,
 * the system has none, and they are not where Chromium looks: without fonts.conf pages have no words.
 */
const UNPACK_SCRIPT = `
set -e
mkdir -p "$1"
cd "$1"
exec 9>lock
flock -w 600 9
if [ -x chromium-headless-shell ] && [ -x ${UNPACKED} ]; then exit 0; fi
rm -rf lists archives root chromium-headless-shell
mkdir -p lists/partial archives/partial root
home=$1
apt() { timeout 600 apt-get -o Dir::State::Lists="$home/lists" -o Dir::Cache="$home" -o Debug::NoLocking=true -o APT::Sandbox::User= "$@"; }
apt update -qq
packages=$(apt -s install --no-install-recommends --reinstall chromium-headless-shell chromium-common | sed -n 's/^Inst \\([^ ]*\\).*/\\1/p')
(cd archives && apt download -qq $packages)
for package in archives/*.deb; do dpkg -x "$package" root; done
rm -rf lists archives *.bin
if [ -d root/usr/share/fonts ]; then
  cat >fonts.conf <<END
<fontconfig>
  <dir>$PWD/root/usr/share/fonts</dir>
  <alias><family>serif</family><prefer><family>DejaVu Serif</family></prefer></alias>
  <alias><family>sans-serif</family><prefer><family>DejaVu Sans</family></prefer></alias>
  <alias><family>monospace</family><prefer><family>DejaVu Sans Mono</family></prefer></alias>
  <cachedir>$PWD/fontconfig</cachedir>
</fontconfig>
END
fi
cat >launcher <<'END'
#!/bin/sh
home=$(dirname "$(readlink -f "$0")")
root=$home/root
if [ -f "$home/fonts.conf" ]; then export FONTCONFIG_FILE="$home/fonts.conf"; fi
libraries=$(find "$root/usr/lib" "$root/lib" -name '*.so*' -printf '%h\\n' 2>/dev/null | sort -u | tr '\\n' ':')
LD_LIBRARY_PATH="$libraries$LD_LIBRARY_PATH" exec "$(dirname "$root")/${UNPACKED}" "$@"
END
chmod 755 launcher
mv launcher chromium-headless-shell
`

/** The scripts' own limits are shorter together. */
const INSTALL_TIMEOUT_MS = 1_600_000
