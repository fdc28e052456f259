export function words(text: string): readonly string[] {
  return text.match(/\S+/g) ?? []
}

export function wordSet(text: string): ReadonlySet<string> {
  return new Set(words(text))
}
