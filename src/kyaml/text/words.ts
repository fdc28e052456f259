export function listWords(text: string): readonly string[] {
  return text.match(/\S+/g) ?? []
}

export function createWordSet(text: string): ReadonlySet<string> {
  return new Set(listWords(text))
}
