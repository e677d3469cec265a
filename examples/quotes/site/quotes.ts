import type { AuthorSlug } from './authors.ts'

/** What quotes can be about, with the line that heads the tag's page. */
export const tags = {
  craft: 'What hands know and find hard to say.',
  gardens: 'Slow work that answers back.',
  kitchens: 'The warmest room and its lessons.',
  light: 'Lamps, windows and what they are for.',
  maps: 'On drawing the world smaller without making it less.',
  mistakes: 'A good school with high fees.',
  neighbours: 'People who happen to be near.',
  'night-trains': 'Between two towns, both asleep.',
  patience: 'On waiting well.',
  rivers: 'Water that has somewhere to be.',
  roads: 'Ways, detours and the people on them.',
  sea: 'The large thing beyond the harbour wall.',
  'small-tools': 'Praise of what fits a pocket.',
  time: 'Clocks, and the other thing.',
  weather: 'What everybody talks about, rightly.',
  weaving: 'Thread over thread under thread.',
} as const satisfies Record<string, string>

export type Tag = keyof typeof tags

export interface Quote {
  readonly text: string
  readonly author: AuthorSlug
  readonly tags: readonly Tag[]
}

/** In the order of the list pages. All of them were written for this site. */
export const quotes: readonly Quote[] = [
  // Page 1
  {
    text: 'The thread you cannot see is doing most of the holding.',
    author: 'oda-vessmark',
    tags: ['weaving', 'craft'],
  },
  {
    text: 'A river is never late. It has simply agreed with every stone on the way.',
    author: 'teodor-halvick',
    tags: ['rivers', 'patience'],
  },
  {
    text: 'Every map begins with what somebody was willing to leave out.',
    author: 'maribel-oquist',
    tags: ['maps', 'craft'],
  },
  {
    text: 'Soup forgives; that is why we make it for people who come late.',
    author: 'benedikta-lunn',
    tags: ['kitchens', 'neighbours'],
  },
  {
    text: 'At three in the morning all stations have the same name.',
    author: 'ruza-delmarin',
    tags: ['night-trains'],
  },
  {
    text: 'Buy the small hammer first. The large one is mostly an opinion.',
    author: 'anselm-pruett',
    tags: ['small-tools', 'craft'],
  },
  {
    text: 'A stopped clock asks one question all day: who was it that stopped winding?',
    author: 'casimir-thole',
    tags: ['time'],
  },
  {
    text: 'I keep the lamp for ships that will never know whose it was. This is the whole wage, and it is enough.',
    author: 'jorun-ashby-skaar',
    tags: ['light', 'sea'],
  },
  // Page 2
  {
    text: 'The shortest way across the moor is the one you can also find when you are wrong about the fog.',
    author: 'idris-fennoke',
    tags: ['roads', 'weather', 'mistakes'],
  },
  {
    text: 'A seed is a letter to somebody you will have become by then.',
    author: 'pia-rosenquill',
    tags: ['gardens', 'patience'],
  },
  {
    text: 'Unpicking is weaving too, only with more thought in it.',
    author: 'oda-vessmark',
    tags: ['weaving', 'mistakes'],
  },
  {
    text: 'Sharpen before you are tired. Afterwards you will only press harder.',
    author: 'anselm-pruett',
    tags: ['small-tools', 'craft'],
  },
  {
    text: 'You learn a kitchen by where its owner looks for the salt.',
    author: 'benedikta-lunn',
    tags: ['kitchens'],
  },
  {
    text: 'Those who ask when we shall arrive are already there; those who look out of the window are still travelling.',
    author: 'ruza-delmarin',
    tags: ['night-trains', 'patience'],
  },
  {
    text: 'The ferryman who boasts of his strength has not yet met April.',
    author: 'teodor-halvick',
    tags: ['rivers', 'weather'],
  },
  {
    text: 'I have engraved ten thousand miles of coast, and the hardest inch was the harbour where I was born.',
    author: 'maribel-oquist',
    tags: ['maps', 'sea'],
  },
  // Page 3
  {
    text: 'Fast and slow are what clocks are called by people who own two.',
    author: 'casimir-thole',
    tags: ['time', 'neighbours'],
  },
  {
    text: 'The fog does not come to hide the rocks. It comes, and the rocks remain our business.',
    author: 'jorun-ashby-skaar',
    tags: ['sea', 'weather'],
  },
  {
    text: 'Measure from where people actually turn round.',
    author: 'idris-fennoke',
    tags: ['maps', 'roads'],
  },
  {
    text: 'Nobody has ever shouted a bean out of the ground.',
    author: 'pia-rosenquill',
    tags: ['gardens', 'patience'],
  },
  {
    text: 'A good edge is quiet. If the neighbours can hear you plane, stop and sharpen.',
    author: 'anselm-pruett',
    tags: ['small-tools', 'neighbours'],
  },
  {
    text: 'Cloth remembers the evening on which it was hurried.',
    author: 'oda-vessmark',
    tags: ['weaving', 'patience', 'time'],
  },
  {
    text: 'Always know which pot you would save. Then lend out the others without a list.',
    author: 'benedikta-lunn',
    tags: ['kitchens', 'neighbours'],
  },
  {
    text: 'In the dining car every stranger is a cousin until the bill.',
    author: 'ruza-delmarin',
    tags: ['night-trains', 'neighbours'],
  },
  // Page 4
  {
    text: 'The far bank looks the same from both sides. I have checked some thirty thousand times.',
    author: 'teodor-halvick',
    tags: ['rivers'],
  },
  {
    text: 'Leave a little copper bare. The person who comes after you will have seen something.',
    author: 'maribel-oquist',
    tags: ['maps', 'neighbours'],
  },
  {
    text: 'I was asked to repair a lost hour. I oiled the door instead; that is where it had been going.',
    author: 'casimir-thole',
    tags: ['time', 'small-tools'],
  },
  {
    text: 'Storms are loud about what they do, and calm weather does the most of it.',
    author: 'jorun-ashby-skaar',
    tags: ['weather', 'sea', 'patience'],
  },
  {
    text: 'A path is a vote that was taken with the feet and never counted.',
    author: 'idris-fennoke',
    tags: ['roads'],
  },
  {
    text: 'Weeds are only early. It is we who are particular.',
    author: 'pia-rosenquill',
    tags: ['gardens'],
  },
  {
    text: 'The handle should be made by somebody who gets tired.',
    author: 'anselm-pruett',
    tags: ['small-tools', 'craft'],
  },
  {
    text: 'Do not ask the pattern for its reason on the second row.',
    author: 'oda-vessmark',
    tags: ['weaving', 'patience'],
  },
  // Page 5
  {
    text: 'Burnt onions taught me more than my mother did, and were less polite about it.',
    author: 'benedikta-lunn',
    tags: ['kitchens', 'mistakes'],
  },
  {
    text: 'Pack so that you can find one thing in the dark, and choose that thing well.',
    author: 'ruza-delmarin',
    tags: ['night-trains', 'small-tools'],
  },
  {
    text: 'Whoever fights the current pays the river twice, once going and once explaining.',
    author: 'teodor-halvick',
    tags: ['rivers', 'mistakes'],
  },
  {
    text: 'A wrong road drawn clearly has led more people home than a right one drawn in haste.',
    author: 'maribel-oquist',
    tags: ['maps', 'roads', 'mistakes'],
  },
  {
    text: 'The smallest wheel turns the most and is thanked the least; I start with that one.',
    author: 'casimir-thole',
    tags: ['craft', 'time'],
  },
  {
    text: 'Clean the glass by day. At night you would call it weather.',
    author: 'jorun-ashby-skaar',
    tags: ['light', 'craft'],
  },
  {
    text: 'Every bog is marked on the chart of whoever lost a boot in it.',
    author: 'idris-fennoke',
    tags: ['maps', 'mistakes'],
  },
  {
    text: 'Give away the best tin. It is the only one you can be sure to find again.',
    author: 'pia-rosenquill',
    tags: ['gardens', 'neighbours'],
  },
  // Page 6
  {
    text: 'Two colours side by side will talk all night; the weaver’s part is to seat them.',
    author: 'oda-vessmark',
    tags: ['weaving', 'light'],
  },
  {
    text: 'Rust is only patience working for the other side.',
    author: 'anselm-pruett',
    tags: ['small-tools', 'patience', 'time'],
  },
  {
    text: 'A table is long enough when you cannot reach the bread & have to ask.',
    author: 'benedikta-lunn',
    tags: ['kitchens', 'neighbours'],
  },
  {
    text: 'Between two towns, both asleep, there is one lit window, and for a minute you live there.',
    author: 'ruza-delmarin',
    tags: ['night-trains', 'light'],
  },
  {
    text: 'I never took anybody across the same river, but I took the same fare.',
    author: 'teodor-halvick',
    tags: ['rivers', 'time'],
  },
  {
    text: 'When the ground and the plan disagree, it is the plan that can be folded.',
    author: 'idris-fennoke',
    tags: ['maps', 'roads'],
  },
  {
    text: 'Winter is when the garden thinks. Try not to interrupt.',
    author: 'pia-rosenquill',
    tags: ['gardens', 'weather', 'patience'],
  },
  {
    text: 'Light does not push the dark away; it only gives it edges.',
    author: 'jorun-ashby-skaar',
    tags: ['light'],
  },
]
