/** A relative path as it is typed at a shell: what would mean something to the shell is quoted. */
export function typed(path: string, platform: NodeJS.Platform = process.platform): string {
  // It would be an option.
  const plain = path.startsWith('-') ? `./${path}` : path
  if (platform === 'win32') return /^[\w.\\/:-]+$/.test(plain) ? plain : `"${plain}"`
  return /^[\w@%+=:,./-]+$/.test(plain) ? plain : `'${plain.replaceAll("'", "'\\''")}'`
}
