/** What originals made of the inputs, in `recorded/<function>.json`. Made of originals that ran as programs, by `record.ts`. */
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { digestOf, type OriginalInput } from './original-inputs.ts'

export interface Recording {
  /** Of the inputs: a recording of others says nothing. */
  readonly inputs: string
  /** By release: of each input, in order, the digest of the files, `refused`, or `varies`. */
  readonly releases: { readonly [release: string]: readonly string[] }
}

/** In the place of a digest, where the original makes something else of one input from run to run. */
export const VARIES = 'varies'

const FOLDER = fileURLToPath(new URL('recorded/', import.meta.url))
const DIGESTS_PER_LINE = 10

export function digestOfInputs(inputs: readonly OriginalInput[]): string {
  return digestOf(inputs.map(({ files }) => Object.entries(files)))
}

/** Names of functions, in order. */
export function recordedFunctions(): readonly string[] {
  return readdirSync(FOLDER)
    .map((file) => file.replace(/\.json$/, ''))
    .sort()
}

export function readRecording(name: string): Recording | undefined {
  const path = `${FOLDER}${name}.json`
  if (!existsSync(path)) return undefined
  const { inputs, releases } = JSON.parse(readFileSync(path, 'utf8')) as {
    inputs: string
    releases: { [release: string]: string[] }
  }
  return {
    inputs,
    releases: Object.fromEntries(
      Object.entries(releases).map(([release, lines]) => [
        release,
        lines.flatMap((line) => line.split(' ')),
      ]),
    ),
  }
}

export function writeRecording(name: string, { inputs, releases }: Recording): void {
  mkdirSync(FOLDER, { recursive: true })
  const lines = Object.entries(releases).map(
    ([release, digests]) => [release, linesOf(digests)] as const,
  )
  writeFileSync(
    `${FOLDER}${name}.json`,
    `${JSON.stringify({ inputs, releases: Object.fromEntries(lines) }, undefined, 2)}\n`,
  )
}

function linesOf(digests: readonly string[]): string[] {
  const count = Math.ceil(digests.length / DIGESTS_PER_LINE)
  return Array.from({ length: count }, (_, line) =>
    digests.slice(line * DIGESTS_PER_LINE, (line + 1) * DIGESTS_PER_LINE).join(' '),
  )
}
