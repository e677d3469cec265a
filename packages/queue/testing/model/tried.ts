/** The text with another attempt; blame.lua. */
export function tried(text: string, kill: number, isSuspect: boolean): { text: string; kills: number } {
  const [id, tries, ...json] = text.split('\n')
  const [, attempt = 1, before = 0, refusals = 0] = /^(\d+):(\d+):(\d+):[01]$/.exec(tries!) ?? []
  const kills = Number(before) + kill
  const line = `${Number(attempt) + 1}:${kills}:${refusals}:${isSuspect ? 1 : 0}`
  return { text: `${id}\n${line}\n${json.join('\n')}`, kills }
}
