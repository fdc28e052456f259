import { Console } from 'node:console'
import { Writable } from 'node:stream'

const MOST_PRINTED = 64 * 1024

export class Printed {
  readonly console: Console
  private readonly parts: string[] = []
  private length = 0

  constructor() {
    const keep = (chunk: Buffer | string): void => {
      const part = String(chunk).slice(0, MOST_PRINTED - this.length)
      this.length += part.length
      this.parts.push(part)
    }
    const stream = new Writable({
      decodeStrings: false,
      write: (chunk, _encoding, done) => {
        keep(chunk)
        done()
      },
    })
    this.console = new Console(stream, stream)
  }

  getText(): string {
    return this.parts.join('').replace(/\n$/, '')
  }
}
