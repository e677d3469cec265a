/** Somebody the quotes are ascribed to. None of them ever lived, nor are their towns on any map. */
export interface Author {
  readonly name: string
  readonly trade: string
  /** A day, as `YYYY-MM-DD`. */
  readonly born: string
  readonly place: string
  /** A paragraph each. */
  readonly life: readonly string[]
}

/** By slug, which is also the last part of the page's path. */
export const authors = {
  'oda-vessmark': {
    name: 'Oda Vessmark',
    trade: 'Weaver',
    born: '1868-11-03',
    place: 'Lindhamn-under-Ness',
    life: [
      'Oda Vessmark wove sailcloth until steam took the sails, and then table linen for the same captains’ widows. Her loom stood for fifty-one years at a window that she refused to have enlarged.',
      'What we have of her words was written on the backs of pattern drafts by her apprentices, who were forbidden to take notes.',
    ],
  },
  'teodor-halvick': {
    name: 'Teodor Halvick',
    trade: 'Ferryman',
    born: '1881-04-19',
    place: 'Brannock Ferry',
    life: [
      'Teodor Halvick carried people, goats and one church organ across the Brannock for forty years, at first by rope and later, under protest, by diesel. When the bridge was opened he was its first passenger and asked what the fare was.',
      'His ferry log notes the height of the water in one column and remarks on mankind in the other.',
    ],
  },
  'maribel-oquist': {
    name: 'Maribel Oquist',
    trade: 'Map engraver',
    born: '1902-01-27',
    place: 'Santa Ruela',
    life: [
      'Maribel Oquist learnt to write backwards before she learnt to write, at the copper plates of her aunt. She engraved the harbour charts of an entire coast without once going to sea, and corrected three captains who had.',
    ],
  },
  'anselm-pruett': {
    name: 'Anselm Pruett',
    trade: 'Toolmaker',
    born: '1857-08-08',
    place: 'Copperwick',
    life: [
      'Anselm Pruett went from village to village with a grindstone on a barrow and came home with drawings of every handle he had held. From these he made the small chisels that joiners in the north still call pruetts.',
      'He kept no shop sign. “Who needs a sharp edge,” he said, “will ask.”',
    ],
  },
  'ruza-delmarin': {
    name: 'Ruza Delmarin',
    trade: 'Sleeping-car attendant',
    born: '1924-12-30',
    place: 'Velgrad Junction',
    life: [
      'Ruza Delmarin was born in a waiting room and worked for thirty-three years on the night express between Velgrad and the sea, waking strangers gently. She reckoned that she had slept in every county and seen none of them by day.',
      'Her book of letters, never sent, was found in the linen cupboard of carriage seven.',
    ],
  },
  'casimir-thole': {
    name: 'Casimir Thole',
    trade: 'Clockmender',
    born: '1843-02-14',
    place: 'Upper Wenlow',
    life: [
      'Casimir Thole mended clocks and declined to set them. “I answer for the wheels,” he told the town council, “the hour is your affair.” For a winter Upper Wenlow was eleven minutes ahead of the valley and, by its own account, no happier.',
    ],
  },
  'benedikta-lunn': {
    name: 'Benedikta Lunn',
    trade: 'Cook',
    born: '1895-06-11',
    place: 'Hollensluis',
    life: [
      'Benedikta Lunn cooked at the lock-keeper’s inn of Hollensluis, where boats waited between ten minutes and two days and dinner had to suit both. She owned four pots and lent out the best.',
      'Her recipes give no amounts. They do say whom to invite.',
    ],
  },
  'idris-fennoke': {
    name: 'Idris Fennoke',
    trade: 'Surveyor',
    born: '1912-09-22',
    place: 'Keld Moor',
    life: [
      'Idris Fennoke walked the line of a railway that was never built and described it so well that people went there on holiday. He measured with a chain long after others used light, because a chain, he said, at least admits when it is tangled.',
    ],
  },
  'pia-rosenquill': {
    name: 'Pia Rosenquill',
    trade: 'Keeper of seeds',
    born: '1939-03-21',
    place: 'Ostermeade',
    life: [
      'Pia Rosenquill kept nine hundred kinds of beans in tobacco tins and knew where each had been a neighbour’s. After the flood of Ostermeade she replanted the whole parish from one cupboard, and asked for the tins back.',
    ],
  },
  'jorun-ashby-skaar': {
    name: 'Jorun Ashby Skaar',
    trade: 'Lighthouse keeper',
    born: '1877-10-05',
    place: 'Skerry Holm',
    life: [
      'Jorun Ashby Skaar had the light of Skerry Holm from her father and handed it on to an electric motor, to which she left a page of advice. She spoke little on land; her sayings reached us through the crew of the supply boat, who competed for them.',
    ],
  },
} as const satisfies Record<string, Author>

export type AuthorSlug = keyof typeof authors
