export interface Replacer {
  /** Undefined if nothing changes. */
  replace(text: string): string | undefined
  occursIn(text: string): boolean
}

/**
 * Go's `strings.Replacer`: takes the first matching text at each position and replaces nothing
 * twice.
 */
export class TextReplacer implements Replacer {
  private readonly pairs = new Map<string, (readonly [from: string, to: string])[]>()

  /** @param pairs the first match wins; an empty text is never replaced */
  constructor(pairs: readonly (readonly [from: string, to: string])[]) {
    for (const pair of pairs) {
      const first = pair[0].charAt(0)
      if (first === '') continue
      const known = this.pairs.get(first)
      if (known === undefined) this.pairs.set(first, [pair])
      else known.push(pair)
    }
  }

  replace(text: string): string | undefined {
    let replaced = ''
    for (let at = 0; at < text.length; ) {
      const pair = this.findPair(text, at)
      replaced += pair?.[1] ?? text.charAt(at)
      at += pair?.[0].length ?? 1
    }
    return replaced === text ? undefined : replaced
  }

  occursIn(text: string): boolean {
    for (let at = 0; at < text.length; at += 1)
      if (this.findPair(text, at) !== undefined) return true
    return false
  }

  private findPair(text: string, at: number): readonly [from: string, to: string] | undefined {
    return this.pairs.get(text.charAt(at))?.find(([from]) => text.startsWith(from, at))
  }
}

/** Go's `strings.ReplaceAll` per text: inserted text may be replaced again. */
export class SuccessiveReplacer implements Replacer {
  private readonly pairs: readonly (readonly [from: string, to: string])[]

  constructor(pairs: readonly (readonly [from: string, to: string])[]) {
    this.pairs = pairs
  }

  replace(text: string): string | undefined {
    const found = this.pairs.filter(([from]) => text.includes(from))
    return found.length === 0
      ? undefined
      : found.reduce((replaced, [from, to]) => replaced.replaceAll(from, () => to), text)
  }

  occursIn(text: string): boolean {
    return this.pairs.some(([from]) => text.includes(from))
  }
}
