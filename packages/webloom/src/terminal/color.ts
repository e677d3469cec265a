import { styleText } from 'node:util'

/** A style of `node:util`'s `styleText`. */
export type Style = 'bold' | 'dim' | 'red' | 'green' | 'yellow' | 'cyan'

/** Returns whether to write colours: FORCE_COLOR decides, then NO_COLOR, as in Node itself; else only a terminal gets them. */
export function colorWanted(isTty: boolean, env: NodeJS.ProcessEnv = process.env): boolean {
  const { FORCE_COLOR, NO_COLOR, TERM } = env
  if (FORCE_COLOR !== undefined) return FORCE_COLOR !== '0' && FORCE_COLOR !== 'false'
  if (NO_COLOR !== undefined && NO_COLOR !== '') return false
  return isTty && TERM !== 'dumb'
}

/** Paints text, or leaves it as it is. */
export type Paint = (style: Style, text: string) => string

export function painter(color: boolean): Paint {
  // The decision has been made; styleText must not make it again for its own stream.
  return color ? (style, text) => styleText(style, text, { validateStream: false }) : (_, text) => text
}
