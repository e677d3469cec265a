/** The command that looks for what is wrong. */

import type { DoctorFlags } from '../commands/doctor.ts'
import { command, flag, SPIDER_OPTIONS } from './command.ts'

export const doctor = command<DoctorFlags, [name: string | undefined]>(
  'doctor [spider]',
  'find what is wrong with this machine, this folder and its Redis servers, and print the line to type',
  { ...SPIDER_OPTIONS, json: flag('--json', 'as JSON') },
  async (flags, [name]) => (await import('../commands/doctor.ts')).doctor(name, flags),
  [
    [
      'webloom doctor',
      'Node, settings, spiders, Redis, folders, names, ports and proxies; ends with 1 when one fails',
    ],
    ['webloom doctor quotes', 'with the settings of a spider, and the rights of its keys'],
    ['webloom doctor -s REDIS_URL=redis://127.0.0.1:6379 --json', 'another Redis, for a program to read'],
  ],
)
