import assert from 'node:assert/strict'
import type { PageForms } from '../ports/page-forms.ts'
import { type ContractTests, type Deviation, runContract, type TestRunner } from './suite.ts'

/** The verdicts of one crawl, for two of its workers. In one process both may be one object. */
export interface SharedPageForms {
  readonly one: PageForms
  readonly other: PageForms
}

export interface PageFormsImplementation {
  readonly name: string
  /** @param shapesMax how many shapes are kept at the most */
  create(shapesMax: number): Promise<SharedPageForms & { dispose(): Promise<void> }>
  readonly deviations?: readonly Deviation[]
}

const SHAPES_MAX = 3

const TESTS: ContractTests<SharedPageForms> = {
  'nothing is known of a shape before its first verdict': async ({ one }) => {
    assert.equal(await one.of('a.example/#'), undefined)
  },
  'what one worker learns the other knows, and nothing of another shape': async ({ one, other }) => {
    assert.deepEqual(await one.learn('a.example/#', 'rendered'), { form: 'rendered', agreeing: 1 })
    assert.deepEqual(await other.of('a.example/#'), { form: 'rendered', agreeing: 1 })
    assert.equal(await other.of('b.example/#'), undefined)
  },
  'verdicts that agree are counted, of both workers, up to three': async ({ one, other }) => {
    await one.learn('a.example/#', 'http')
    assert.deepEqual(await other.learn('a.example/#', 'http'), { form: 'http', agreeing: 2 })
    for (const forms of [one, other, one]) await forms.learn('a.example/#', 'http')
    assert.deepEqual(await other.of('a.example/#'), { form: 'http', agreeing: 3 })
  },
  'one that disagrees begins anew': async ({ one, other }) => {
    for (let n = 0; n < 3; n++) await one.learn('a.example/#', 'http')
    assert.deepEqual(await other.learn('a.example/#', 'rendered'), { form: 'rendered', agreeing: 1 })
    assert.deepEqual(await one.of('a.example/#'), { form: 'rendered', agreeing: 1 })
  },
  'past the bound something is not kept, and what is kept stays right': async ({ one, other }) => {
    const shapes = ['a.example/1', 'a.example/2', 'a.example/3', 'a.example/4', 'a.example/5']
    // What says that it is kept is.
    for (const shape of shapes) assert.deepEqual(await one.learn(shape, 'http'), await other.of(shape))
    const known = await Promise.all(shapes.map((shape) => other.of(shape)))
    const kept = known.filter((verdicts) => verdicts !== undefined)
    assert.equal(kept.length, SHAPES_MAX)
    for (const verdicts of kept) assert.deepEqual(verdicts, { form: 'http', agreeing: 1 })
  },
  'past the bound another shape can be learned all the same': async ({ one, other }) => {
    for (let n = 0; n < 2 * SHAPES_MAX; n++) await one.learn(`trap.example/${'a'.repeat(n)}/#`, 'http')
    for (let n = 0; n < 3; n++) await one.learn('a.example/#', 'rendered')
    assert.deepEqual(await other.of('a.example/#'), { form: 'rendered', agreeing: 3 })
  },
}

/** Every PageForms runs this. */
export function pageFormsContract(
  runner: TestRunner,
  { name, create, deviations }: PageFormsImplementation,
): void {
  runContract<SharedPageForms>(runner, 'PageForms', TESTS, {
    name,
    ...(deviations && { deviations }),
    create: async () => {
      const { dispose, ...subject } = await create(SHAPES_MAX)
      return { subject, dispose }
    },
  })
}
