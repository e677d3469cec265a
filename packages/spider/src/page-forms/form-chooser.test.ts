import { type FormVerdicts, type PageForm, Request, withVerdict } from '@webloom/core'
import { expect, test } from 'vitest'
import { FormChooser, type FormPlan } from './form-chooser.ts'

/** What another worker may have learned, too. */
class Verdicts {
  readonly known = new Map<string, FormVerdicts>()
  reads = 0

  of(shape: string) {
    this.reads++
    return this.known.get(shape)
  }

  learn(shape: string, form: PageForm): FormVerdicts {
    const verdicts = withVerdict(this.known.get(shape), form)
    this.known.set(shape, verdicts)
    return verdicts
  }
}

const chooserOf = (forms: Verdicts) =>
  new FormChooser(forms, (error) => {
    throw error
  })

let pages = 0
const plan = (chooser: FormChooser) => chooser.plan(new Request(`http://a.example/p/${pages++}`))

async function probed(chooser: FormChooser, verdict?: PageForm): Promise<void> {
  const { gate } = await plan(chooser)
  expect(await gate!.begin()).toBe('both')
  await gate!.end(verdict)
}

async function labelled(verdict: PageForm) {
  const forms = new Verdicts()
  const chooser = chooserOf(forms)
  for (let n = 0; n < 3; n++) await probed(chooser, verdict)
  return { forms, chooser }
}

test.each(['http', 'rendered'] as const)('three probes that agree label a shape: %s', async (form) => {
  const { chooser, forms } = await labelled(form)
  expect(await plan(chooser)).toEqual({ form })
  const other = await chooser.plan(new Request('http://b.example/p/1'))
  expect(other.gate).toBeDefined()
  expect(forms.reads).toBe(2)
})

test('a probe without a verdict is none, and one that disagrees begins anew', async () => {
  const chooser = chooserOf(new Verdicts())
  for (const verdict of ['http', undefined, undefined, 'http', 'rendered', 'rendered', undefined] as const)
    await probed(chooser, verdict)
  expect((await plan(chooser)).gate).toBeDefined()
  await probed(chooser, 'rendered')
  expect(await plan(chooser)).toEqual({ form: 'rendered' })
})

test('of many pages at once as few are probed as verdicts are missing; the others wait for the label', async () => {
  const chooser = chooserOf(new Verdicts())
  const plans: FormPlan[] = []
  for (let n = 0; n < 20; n++) plans.push(await plan(chooser))
  const choices: string[] = []
  const all = plans.map(async ({ gate }) => {
    const choice = await gate!.begin()
    choices.push(choice)
    if (choice === 'both') {
      await new Promise(setImmediate)
      await gate!.end('rendered')
    }
  })
  await Promise.all(all)
  expect(choices.filter((choice) => choice === 'both')).toHaveLength(3)
  expect(choices.filter((choice) => choice === 'rendered')).toHaveLength(17)
})

test('one page in fifty is probed all the same; when it disagrees the label is gone', async () => {
  const { chooser } = await labelled('http')
  for (let n = 1; n < 50; n++) expect(await plan(chooser)).toEqual({ form: 'http' })
  await probed(chooser, 'http')
  for (let n = 1; n < 50; n++) expect((await plan(chooser)).gate).toBeUndefined()
  await probed(chooser, 'rendered')
  expect((await plan(chooser)).gate).toBeDefined()
})

test('what another worker has learned is known here', async () => {
  const { forms } = await labelled('rendered')
  expect(await plan(chooserOf(forms))).toEqual({ form: 'rendered' })
})

test('a store that fails is done without: this process learns for itself, and says so', async () => {
  const troubles: unknown[] = []
  const fails = () => Promise.reject(new Error('full'))
  const chooser = new FormChooser({ of: fails, learn: fails }, (error) => troubles.push(error))
  for (let n = 0; n < 3; n++) await probed(chooser, 'rendered')
  expect(await plan(chooser)).toEqual({ form: 'rendered' })
  expect(troubles).toHaveLength(4)
})
