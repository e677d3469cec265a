import type { McpFlags } from '../commands/mcp.ts'
import { configHere } from '../loading/config.ts'
import { command, flag, SPIDER_OPTIONS, values } from './command.ts'

export const mcp = command<McpFlags, [spiders: string[]]>(
  'mcp [spiders...]',
  'give the crawls of a Redis to an assistant, as tools over standard input and output (needs @webloom/dashboard)',
  {
    control: flag(
      '--control',
      'let the assistant steer crawls, too: pause, stop, retry … (default: look only)',
    ),
    redis: values('--redis <url>', 'a Redis with queues; repeat it for several (default REDIS_URL)'),
    set: SPIDER_OPTIONS.set,
  },
  async (flags, [spiders]) => {
    const { mcp: run } = await import('../commands/mcp.ts')
    await run(spiders, flags, configHere)
  },
  [
    ['webloom mcp', 'an assistant starts this line to look at all crawls of REDIS_URL'],
    [
      'webloom mcp quotes --control',
      'only those of one spider, which the assistant may also pause, resume and stop',
    ],
  ],
)
