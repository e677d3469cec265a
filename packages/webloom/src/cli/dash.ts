import type { DashFlags } from '../commands/dash.ts'
import { configHere } from '../loading/config.ts'
import { command, flag, SPIDER_OPTIONS, value, values } from './command.ts'

export const dash = command<DashFlags, [spiders: string[]]>(
  'dash [spiders...]',
  'show the crawls of a Redis in a browser, those of all spiders or of some (needs @webloom/dashboard)',
  {
    host: value('--host <address>', 'the address to listen on (default 127.0.0.1)'),
    port: value('--port <N>', 'the port (default 6480)'),
    control: flag(
      '--control',
      'let buttons and the HTTP API steer crawls: pause, stop, retry … (default: look only)',
    ),
    tokenFile: value(
      '--token-file <file>',
      'a file of mode 0600 with the token that browsers and programs must send (default WEBLOOM_DASH_TOKEN)',
    ),
    redis: values('--redis <url>', 'a Redis with queues; repeat it for several (default REDIS_URL)'),
    set: SPIDER_OPTIONS.set,
  },
  async (flags, [spiders]) => {
    const { dash: run } = await import('../commands/dash.ts')
    await run(spiders, flags, await configHere())
  },
  [
    ['webloom dash', 'http://127.0.0.1:6480/ shows all crawls of REDIS_URL'],
    ['webloom dash quotes --port 8080', 'those of one spider, on another port'],
    ['webloom dash --host 0.0.0.0 --token-file token', 'for others, who need the token'],
    [
      'webloom dash --redis redis://10.0.0.4:6379 --redis redis://10.0.0.5:6379',
      'those of two Redis servers',
    ],
  ],
)
