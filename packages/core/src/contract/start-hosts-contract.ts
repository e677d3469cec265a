import assert from 'node:assert/strict'
import type { StartHosts } from '../ports/start-hosts.ts'
import { type ContractTests, type Deviation, runContract, type TestRunner } from './suite.ts'

/** The start hosts of one crawl, for two of its workers. In one process both may be one object. */
export interface SharedStartHosts {
  readonly one: StartHosts
  readonly other: StartHosts
}

export interface StartHostsImplementation {
  readonly name: string
  create(): Promise<SharedStartHosts & { dispose(): Promise<void> }>
  readonly deviations?: readonly Deviation[]
}

const TESTS: ContractTests<SharedStartHosts> = {
  'a host that no start request names is none': async ({ one, other }) => {
    assert.equal(await one.has('a.example:80'), false)
    await one.add('a.example:80')
    assert.equal(await other.has('b.example:80'), false)
  },
  'what one worker adds each is told, with that port and no other': async ({ one, other }) => {
    await one.add('a.example:80')
    await one.add('a.example:80')
    await one.add('[::1]:8080')
    for (const hosts of [one, other]) {
      assert.equal(await hosts.has('a.example:80'), true)
      assert.equal(await hosts.has('a.example:8080'), false)
      assert.equal(await hosts.has('www.a.example:80'), false)
      assert.equal(await hosts.has('[::1]:8080'), true)
    }
  },
  'one that has a public address is let inside by no worker, whoever adds it again': async ({
    one,
    other,
  }) => {
    await one.add('a.example:80')
    await one.add('b.example:80')
    assert.equal(await other.has('a.example:80'), true)
    await other.notePublic('a.example:80')
    await other.add('a.example:80')
    for (const hosts of [one, other]) {
      assert.equal(await hosts.has('a.example:80'), false)
      assert.equal(await hosts.has('b.example:80'), true)
    }
  },
  'of a host that is none nothing is noted: a start request that names it later has it in': async ({
    one,
    other,
  }) => {
    await one.notePublic('later.example:80')
    await other.add('later.example:80')
    assert.equal(await one.has('later.example:80'), true)
  },
}

/** Every StartHosts runs this. */
export function startHostsContract(
  runner: TestRunner,
  { name, create, deviations }: StartHostsImplementation,
): void {
  runContract<SharedStartHosts>(runner, 'StartHosts', TESTS, {
    name,
    ...(deviations && { deviations }),
    create: async () => {
      const { dispose, ...subject } = await create()
      return { subject, dispose }
    },
  })
}
