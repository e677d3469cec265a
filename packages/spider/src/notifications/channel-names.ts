import type { NotificationChannel } from './notification.ts'

/** Returns channels by name: of two with one name, such as webhooks of one host, the second has another. */
export function byName(channels: readonly NotificationChannel[]): Map<string, NotificationChannel> {
  const named = new Map<string, NotificationChannel>()
  for (const channel of channels) {
    let name = channel.name
    for (let n = 2; named.has(name); n++) name = `${channel.name} (${n})`
    named.set(name, channel)
  }
  return named
}
