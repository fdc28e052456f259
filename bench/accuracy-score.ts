/** Scores a tool on a corpus with known results: by object, and by field for the tools that show fields. */

/** The result of a tool for one case. */
export type Answer =
  /** The objects that it reports as different, as `Deployment/web`. */
  | { readonly state: 'answered'; readonly objects: ReadonlySet<string> }
  /** It ended with an error; `why` is its message. */
  | { readonly state: 'failed'; readonly why: string }

/** One case with the result of each tool. */
export interface CaseAnswers {
  readonly name: string
  readonly class: string
  /** Drifted objects; empty if nothing should be reported. */
  readonly truth: ReadonlySet<string>
  /** By tool, without tools that did not run. */
  readonly answers: ReadonlyMap<string, Answer>
}

export interface Score {
  /** Drifted objects that were reported. */
  readonly found: number
  readonly missed: number
  /** Reported objects that did not drift. */
  readonly invented: number
  /** Cases without drift in which nothing was reported, and all cases without drift. */
  readonly quiet: number
  readonly quietCases: number
  /** Cases without a result; their drift counts as missed. */
  readonly failed: number
}

/** Over the cases in which the tool ran. */
export function scoreOf(tool: string, cases: readonly CaseAnswers[]): Score {
  let [found, missed, invented, quiet, quietCases, failed] = [0, 0, 0, 0, 0, 0]
  for (const { truth, answers } of cases) {
    const answer = answers.get(tool)
    if (answer === undefined) continue
    const named: ReadonlySet<string> = answer.state === 'answered' ? answer.objects : new Set()
    const right = [...named].filter((object) => truth.has(object)).length
    found += right
    missed += truth.size - right
    invented += named.size - right
    if (answer.state === 'failed') failed += 1
    if (truth.size > 0) continue
    quietCases += 1
    if (answer.state === 'answered' && named.size === 0) quiet += 1
  }
  return { found, missed, invented, quiet, quietCases, failed }
}

/** The share of the drifted objects that was reported; undefined without drift. */
export function recallOf({ found, missed }: Score): number | undefined {
  return found + missed === 0 ? undefined : found / (found + missed)
}

/** The share of the reported objects that drifted; undefined without reports. */
export function precisionOf({ found, invented }: Score): number | undefined {
  return found + invented === 0 ? undefined : found / (found + invented)
}

/** Two digits, never rounded up to 1; a dash for undefined. */
export function shown(share: number | undefined): string {
  return share === undefined ? '–' : (Math.floor(share * 100) / 100).toFixed(2)
}

/** One row for each tool. */
export function overallTable(tools: readonly string[], cases: readonly CaseAnswers[]): string {
  const rows = tools.map((tool) => {
    const score = scoreOf(tool, cases)
    const counts = `${score.found} of ${score.found + score.missed}`
    return [
      tool,
      `${shown(recallOf(score))} (${counts})`,
      `${shown(precisionOf(score))} (${score.invented} false)`,
      `${score.quiet} of ${score.quietCases}`,
      String(score.failed),
    ]
  })
  return table(
    [
      'tool',
      'recall: drifted objects reported',
      'precision',
      'nothing reported without drift',
      'failed',
    ],
    rows,
  )
}

/** One row for each class: recall and precision of each tool. */
export function classTable(tools: readonly string[], cases: readonly CaseAnswers[]): string {
  const classes = [...new Set(cases.map((one) => one.class))].sort()
  const rows = classes.map((name) => {
    const own = cases.filter((one) => one.class === name)
    const quiet = own.filter(({ truth }) => truth.size === 0).length
    return [
      name,
      `${own.length}${quiet === 0 ? '' : ` (${quiet})`}`,
      ...tools.map((tool) => {
        if (!own.some(({ answers }) => answers.has(tool))) return 'not run'
        const score = scoreOf(tool, own)
        return `${shown(recallOf(score))} / ${shown(precisionOf(score))}${score.invented === 0 ? '' : `, ${score.invented} false`}`
      }),
    ]
  })
  return table(['class', 'cases (without drift)', ...tools], rows)
}

export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  return [head, head.map(() => '---'), ...rows]
    .map((cells) => `| ${cells.join(' | ')} |\n`)
    .join('')
}
