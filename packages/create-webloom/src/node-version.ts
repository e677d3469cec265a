// What the packages' `engines` say.
const WANTED = [22, 19] as const

/** The Node that a project brings along when the one of the machine is too old for Webloom. */
export const OWN_NODE = '24.21.0'

/** Returns whether Webloom needs a newer Node than this one. */
export function isTooOld(version: string): boolean {
  const [major = 0, minor = 0] = version.split('.').map(Number)
  return major < WANTED[0] || (major === WANTED[0] && minor < WANTED[1])
}
