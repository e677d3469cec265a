/** What a script does about requests with a history: the file `lua/leasing/quarantine.lua` as methods. */

import { SlotsStep } from './slots-step.ts'

const HISTORY_BYTES_MAX = 8000

export class QuarantineStep extends SlotsStep {
  protected note(id: string, worker: string, what: string): void {
    const line = `{"at":${this.nowMs},"worker":${luaJson(worker)},"what":${luaJson(what)}}`
    const known = this.state.histories.get(id)
    let lines = known === undefined ? line : `${known}\n${line}`
    while (lines.length > HISTORY_BYTES_MAX && lines.includes('\n'))
      lines = lines.slice(lines.indexOf('\n') + 1)
    this.state.histories.set(id, lines)
  }

  protected quarantine(text: string, reason: string): void {
    const [id, , ...json] = text.split('\n')
    const history = (this.state.histories.get(id!) ?? '').replaceAll('\n', ',')
    this.state.quarantined.set(
      id!,
      `{"id":${luaJson(id!)},"request":${json.join('\n')},"reason":${luaJson(reason)},"history":[${history}],"quarantinedAt":${this.nowMs}}`,
    )
    this.state.histories.delete(id!)
  }
}

/** As cjson writes a string. */
function luaJson(text: string): string {
  return JSON.stringify(text).replaceAll('/', '\\/')
}
