/** What is wrong with an expression, and where: `at` counts characters from 0. */
export class XPathProblem extends Error {
  readonly at: number | undefined

  constructor(message: string, at?: number) {
    super(message)
    this.at = at
  }
}

/** A piece of an expression. The end is a token of its own, so that what is missing has a place. */
export interface Token {
  readonly kind: 'number' | 'literal' | 'variable' | 'name' | 'operator' | 'symbol' | 'end'
  readonly text: string
  readonly at: number
}

const NAME = '[\\p{L}_][\\p{L}\\p{M}\\p{N}_.·-]*'
const TOKEN = new RegExp(
  [
    // libxml2 takes an exponent, too.
    '(?<number>(?:\\d+(?:\\.\\d*)?|\\.\\d+)(?:e[+-]?\\d+)?)',
    `(?<literal>"[^"]*"|'[^']*')`,
    `\\$(?<variable>${NAME}(?::${NAME})?)`,
    `(?<name>${NAME}(?::(?:${NAME}|\\*))?)`,
    '(?<symbol>//|::|\\.\\.|!=|<=|>=|[()[\\].@,/|+\\-=<>*])',
  ].join('|'),
  'iuy',
)
const WORD_OPERATORS = new Set(['and', 'or', 'div', 'mod'])
const SYMBOL_OPERATORS = new Set(['|', '+', '-', '=', '!=', '<', '<=', '>', '>='])
const NO_OPERAND_BEFORE = new Set(['(', '[', ',', '@', '::', '/', '//'])

/** Throws XPathProblem at the first character that begins nothing. */
export function tokensOf(expression: string): Token[] {
  const tokens: Token[] = []
  for (let at = spaceEnd(expression, 0); at < expression.length; ) {
    TOKEN.lastIndex = at
    const match = TOKEN.exec(expression)
    if (!match) throw new XPathProblem(strayCharacter(expression[at]!), at)
    tokens.push({ ...tokenOf(match, tokens.at(-1)), at })
    at = spaceEnd(expression, TOKEN.lastIndex)
  }
  return [...tokens, { kind: 'end', text: '', at: expression.length }]
}

function tokenOf(match: RegExpExecArray, before: Token | undefined): Omit<Token, 'at'> {
  const { number, literal, variable, name, symbol } = match.groups!
  if (number !== undefined) return { kind: 'number', text: number }
  if (literal !== undefined) return { kind: 'literal', text: literal.slice(1, -1) }
  if (variable !== undefined) return { kind: 'variable', text: variable }
  const text = (name ?? symbol)!
  if (isOperator(text, before)) return { kind: 'operator', text }
  return { kind: name === undefined ? 'symbol' : 'name', text }
}

/** After an operand `*` multiplies and `div` divides; elsewhere both are names (XPath 1.0, 3.7). */
function isOperator(text: string, before: Token | undefined): boolean {
  if (SYMBOL_OPERATORS.has(text)) return true
  if (text !== '*' && !WORD_OPERATORS.has(text)) return false
  if (before === undefined || before.kind === 'operator') return false
  return before.kind !== 'symbol' || !NO_OPERAND_BEFORE.has(before.text)
}

function spaceEnd(expression: string, at: number): number {
  while (/[ \t\r\n]/.test(expression.charAt(at))) at++
  return at
}

function strayCharacter(character: string): string {
  return character === '"' || character === "'"
    ? 'a string that begins here does not end'
    : `${character} has no meaning here`
}
