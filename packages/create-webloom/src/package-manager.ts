/** What installs the project's packages. */
export type PackageManager = 'npm' | 'pnpm' | 'yarn' | 'bun'

const KNOWN: readonly string[] = ['npm', 'pnpm', 'yarn', 'bun']

/** Returns the package manager that has started this command: each begins `npm_config_user_agent` with its name. npm when none has. */
export function packageManagerOf(userAgent: string | undefined): PackageManager {
  const name = userAgent?.split('/', 1)[0] ?? ''
  return KNOWN.includes(name) ? (name as PackageManager) : 'npm'
}

/** The commands that install the packages and start the crawl. */
export function commandsOf(manager: PackageManager): readonly [install: string, start: string] {
  return [`${manager} install`, manager === 'bun' ? 'bun run start' : `${manager} start`]
}
