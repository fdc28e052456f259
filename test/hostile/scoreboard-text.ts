/** The scoreboard as Markdown: docs/reliability.md. */
import type { Mutant, Promised } from './promises.ts'

/** What a run of the mutants found. */
export interface Proven {
  /** `P1` */
  readonly id: string
  readonly mutant: Mutant
  /** Name of the first test that failed; undefined where the mutant survived. */
  readonly killed: string | undefined
}

const HEAD = `# Reliability: guarantees and their proofs

A promise is proven if three things exist: a check in the test suite that fails when the promise is broken, a mutant for it (one deliberate fault in the source), and a run in which the
check detected the mutant. Every other promise is unproven, and the page names what it waits for. \`node test/hostile/scoreboard.ts --write\` applies each mutant to the source once, runs the
checks and writes this page.
`

export function scoreboardText(promises: readonly Promised[], proven: readonly Proven[]): string {
  const rows = promises.map((promised) =>
    rowOf(
      promised,
      proven.filter(({ id }) => id === promised.id),
    ),
  )
  const count = promises.filter((promised) => isProven(promised, proven)).length
  const killed = proven.filter((one) => one.killed !== undefined).length
  return [
    HEAD,
    `${count} of ${promises.length} promises are proven; ${killed} of ${proven.length} mutants are detected.`,
    '',
    '| | Promise | Checks | Mutants, and the test that detected each | Open |',
    '|---|---|---|---|---|',
    ...rows,
    '',
  ].join('\n')
}

/** The test that detected a mutant, as a page has it. */
export function detectedBy(page: string, { breaks }: Mutant): string | undefined {
  const head = `${breaks}: detected by “`
  const at = page.indexOf(head)
  if (at < 0) return undefined
  const from = at + head.length
  return page.slice(from, page.indexOf('”', from)).replaceAll('&lt;', '<').replaceAll('\\|', '|')
}

export function isProven({ id, mutants }: Promised, proven: readonly Proven[]): boolean {
  return mutants.length > 0 && proven.every((one) => one.id !== id || one.killed !== undefined)
}

function rowOf(
  { id, promise, checks, mutants, open }: Promised,
  proven: readonly Proven[],
): string {
  const results = mutants.map((mutant) => {
    const found = proven.find((one) => one.mutant === mutant)?.killed
    return `${mutant.breaks}: ${found === undefined ? '**survived**' : `detected by “${cell(found)}”`}`
  })
  const cells = [
    id,
    promise,
    checks
      .map((path) => `[${path.replace(/^.*\//, '').replace(/\.test\.ts$/, '')}](../${path})`)
      .join('<br>'),
    mutants.length === 0 ? '**unproven**' : results.join('<br>'),
    open ?? '',
  ]
  return `| ${cells.join(' | ')} |`
}

function cell(text: string): string {
  return text.replaceAll('|', '\\|').replaceAll('<', '&lt;')
}
