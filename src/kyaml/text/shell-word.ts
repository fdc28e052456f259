/** One word of a command for a POSIX shell, which reads it as `text`. */
export function quoteShellWord(text: string): string {
  return /^[\w@%+:,./-][\w@%+=:,./-]*$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`
}
