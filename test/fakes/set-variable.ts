/** Sets a variable of this process, which other tests run in. @returns puts it back as it was */
export function setVariable(name: string, value: string): () => void {
  const before = process.env[name]
  process.env[name] = value
  return () => {
    if (before === undefined) delete process.env[name]
    else process.env[name] = before
  }
}
