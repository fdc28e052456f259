const TOGETHER = 1024

/**
 * `text += part` keeps an object for each part: a block of a million short lines takes twenty times
 * its bytes.
 */
export class TextParts {
  private first: string
  private parts: string[] | undefined
  private joined: string[] | undefined

  constructor(first = '') {
    this.first = first
  }

  add(part: string): void {
    if (part === '') return
    if (this.first === '') {
      this.first = part
      return
    }
    this.parts ??= [this.first]
    if (this.parts.push(part) < TOGETHER) return
    this.joined ??= []
    this.joined.push(this.parts.join(''))
    this.parts = []
  }

  get isEmpty(): boolean {
    return this.first === ''
  }

  toString(): string {
    const { first, parts, joined } = this
    if (parts === undefined) return first
    return joined === undefined ? parts.join('') : [...joined, ...parts].join('')
  }
}
