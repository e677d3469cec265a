/**
 * Questions of several pages travel as one call, each with its own asker: a call costs Redis more than a page's links do.
 *
 * No question waits for others by a timer. What comes within a few turns of the event loop goes together, and so does what
 * comes while a call is under way. What fills a call goes at once, so that a distant Redis slows nobody down. The script
 * answers the questions of a call in order, as if one had come after the other.
 *
 * Not chosen: one call for each turn of the event loop, as in a busy process hardly more than one page ends in a turn.
 */

import { storeTrouble } from '@webloom/core'
import type { Answer, AskReply } from './ask-reply.ts'
import type { Asked } from './asked.ts'

/** One asker's question about links, each of which stands in it once. */
export interface Question {
  readonly asked: readonly Asked[]
  readonly taggedAsker: string
  readonly attempt: string
  /** The asker was settled in another run of the queue's Redis. */
  readonly again: boolean
}

/** What one question is answered, with what its whole call was told. */
export interface Told extends Answer, Pick<AskReply, 'generation' | 'now'> {}

export interface QuestionLineOptions {
  /** How many links questions that travel together may ask about. One question alone may ask about more. */
  readonly linksMax: () => number
  /** Resolves to the reply, with an answer for each question. */
  readonly call: (questions: readonly Question[]) => Promise<AskReply>
}

/**
 * For so many turns of the event loop a call waits for questions. A turn of a busy process is about one page; one of an idle
 * process is over at once. In a crawl of many hosts one turn leaves 0.46 calls a page, two 0.38, three 0.30, five 0.25.
 */
const COLLECTED_TURNS = 3

interface Waiting {
  readonly question: Question
  readonly answer: PromiseWithResolvers<Told>
}

/** Collects questions, and sends those together that wait at the same moment. */
export class QuestionLine {
  readonly #options: QuestionLineOptions
  #waiting: Waiting[] = []
  #links = 0
  #callsUnderWay = 0
  #turnsLeft = 0

  constructor(options: QuestionLineOptions) {
    this.#options = options
  }

  /** Rejects when the question, or the whole call with which it travels, has failed. Then it may be recorded all the same. */
  ask(question: Question): Promise<Told> {
    const linksMax = this.#options.linksMax()
    if (this.#links + question.asked.length > linksMax) this.sendAll()
    const answer = Promise.withResolvers<Told>()
    this.#waiting.push({ question, answer })
    this.#links += question.asked.length
    if (this.#links >= linksMax) this.sendAll()
    else this.#sendSoon()
    return answer.promise
  }

  /** Sends what waits, though a call may be under way. */
  sendAll(): void {
    const together = this.#waiting
    if (together.length === 0) return
    this.#waiting = []
    this.#links = 0
    this.#callsUnderWay++
    void this.#call(together).finally(() => {
      this.#callsUnderWay--
      if (this.#waiting.length > 0) this.#sendSoon()
    })
  }

  #sendSoon(): void {
    if (this.#turnsLeft > 0 || this.#callsUnderWay > 0) return
    this.#turnsLeft = COLLECTED_TURNS
    this.#nextTurn()
  }

  #nextTurn(): void {
    setImmediate(() => {
      this.#turnsLeft--
      if (this.#turnsLeft > 0) this.#nextTurn()
      else if (this.#callsUnderWay === 0) this.sendAll()
    })
  }

  async #call(together: readonly Waiting[]): Promise<void> {
    try {
      const { answers, generation, now } = await this.#options.call(together.map(({ question }) => question))
      for (const [n, { answer }] of together.entries()) answer.resolve({ ...answers[n]!, generation, now })
    } catch (error) {
      // A Redis that is away or full fails all alike. Any other error may be about one question, and it is harmless to ask the
      // others again: their askers are told the same.
      if (together.length > 1 && storeTrouble(error) === undefined)
        await Promise.all(together.map((one) => this.#call([one])))
      else for (const { answer } of together) answer.reject(error)
    }
  }
}

/** The links of several questions, each once, and where those of each question are among them. */
export interface JoinedQuestions {
  readonly asked: readonly Asked[]
  /** For each question the indexes of its links, from 1 as in Lua; undefined when they are all links, in order. */
  readonly at: readonly (readonly number[] | undefined)[]
}

export function joinedQuestions(questions: readonly Question[]): JoinedQuestions {
  const [first] = questions
  if (first && questions.length === 1) return { asked: first.asked, at: [undefined] }
  const indexes = new Map<string, number>()
  const all: Asked[] = []
  const at = questions.map(({ asked }) =>
    asked.map((one) => {
      const known = indexes.get(one.fingerprint)
      if (known !== undefined) return known
      const index = all.push(one)
      indexes.set(one.fingerprint, index)
      return index
    }),
  )
  return { asked: all, at }
}
