/** Presses of buttons between the webhook that brings them and the turn that answers them. In memory: what is lost was not answered. */
import type { ButtonPress, PressSource } from '../ports/check-run.ts'

/** Presses that wait at most; the oldest goes first. */
const CAPACITY = 200

export class PressQueue implements PressSource {
  /** By id, oldest first: one that is repeated while it waits is one. */
  private readonly presses = new Map<string, ButtonPress>()

  add(press: ButtonPress): void {
    if (this.presses.has(press.id)) return
    this.presses.set(press.id, press)
    for (const id of this.presses.keys()) {
      if (this.presses.size <= CAPACITY) break
      this.presses.delete(id)
    }
  }

  waiting(): readonly ButtonPress[] {
    return [...this.presses.values()]
  }

  answered({ id }: ButtonPress): void {
    this.presses.delete(id)
  }
}
