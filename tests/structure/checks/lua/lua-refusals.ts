import { sourceFiles } from '../../files/source-files.ts'

// `redis.error_reply('WEBLOOM_FULL ' .. leaves)`, or a refusal that was made elsewhere, by what a file before this one says.
const OWN = /^error_reply\((?:'WEBLOOM_[A-Z]+ |refusal\))/
const ERROR = /\berr\s*=[^=].*|\berror_reply\(.*/g
const TABLE = /\berr\s*=/

/**
 * Errors of Lua files that could be taken for Redis's own. A script refuses by `WEBLOOM_<CODE> <detail>`, which becomes a
 * `ScriptRefusal`; callers compare its code.
 */
export function luaRefusalProblems(root: string): string[] {
  return sourceFiles(root, 'packages/*/lua/**/*.lua').flatMap(({ path, text }) =>
    [...text.replaceAll(/--.*/g, '').matchAll(ERROR)]
      .filter(([made]) => TABLE.test(made) || !OWN.test(made))
      .map(([made]) => `${path} answers ${made.trim()}: not by WEBLOOM_<CODE> <detail>`),
  )
}
