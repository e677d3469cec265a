/** What the mills sell. All of it follows from a mill's and a yarn's number, so the site is the same wherever it runs. */

export interface Yarn {
  /** Within its mill, from 0 on. */
  readonly number: number
  readonly mill: number
  readonly colour: string
  readonly fibre: string
  readonly grams: number
  readonly price: number
}

export const MILLS = [
  'Alder Mill',
  'Birch Mill',
  'Hazel Mill',
  'Maple Mill',
  'Rowan Mill',
  'Willow Mill',
] as const

const FIBRES = ['alpaca', 'cotton', 'hemp', 'lambswool', 'linen', 'silk']
const COLOURS = ['fern', 'indigo', 'madder', 'oatmeal', 'peat', 'rust', 'slate', 'weld']

/** The same number at every mill: each spins every fibre in every colour. */
export const YARNS_PER_MILL = FIBRES.length * COLOURS.length

export function yarn(mill: number, number: number): Yarn {
  return {
    number,
    mill,
    colour: COLOURS[number % COLOURS.length]!,
    fibre: FIBRES[Math.floor(number / COLOURS.length)]!,
    grams: number % 3 === mill % 3 ? 100 : 50,
    price: (350 + 25 * ((7 * mill + 11 * number) % 24)) / 100,
  }
}

/** Yarns to knit together with this one: two of its mill, and the same one of the next mill. */
export function goesWith({ mill, number }: Yarn): Yarn[] {
  const inMill = (steps: number) => yarn(mill, (number + steps) % YARNS_PER_MILL)
  return [inMill(1), inMill(COLOURS.length), yarn((mill + 1) % MILLS.length, number)]
}
