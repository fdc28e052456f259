import { waitUntil } from './wait-until.ts'

/** Whoever took the port may accept the connection and never answer: it is asked again. */
const ASKED_AGAIN_AFTER = 5_000

/** Waits until a server that starts answers this address with a status of success. */
export async function untilAnswers(url: string, signal: AbortSignal): Promise<void> {
  const look = (): Promise<boolean> =>
    fetch(url, { signal: AbortSignal.any([signal, AbortSignal.timeout(ASKED_AGAIN_AFTER)]) }).then(
      ({ ok }) => ok,
      () => false,
    )
  await waitUntil(`${url} answers`, look, { signal })
}
