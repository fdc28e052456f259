import { waitUntil } from './wait-until.ts'

const secondOf = (): number => Math.floor(Date.now() / 1_000)

/** Servers, forges and git write times of whole seconds. What is done after this has a later time than what was done before. */
export async function nextSecond(): Promise<void> {
  const second = secondOf()
  await waitUntil('the next second', () => secondOf() > second)
}
