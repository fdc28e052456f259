import { Failure, listFailures } from '@backporch/kyaml/failure'
import { formatJson, type Json, parseJson } from '@backporch/kyaml/json'
import { convertToOneLine } from '@backporch/kyaml/text'
import { RISKS } from '../../drift/compare/drift.ts'
import { API_VERSION } from '../../record/documents/document.ts'
import {
  type DriftReportList,
  driftReportListSchema,
} from '../../record/documents/drift-report-list.ts'
import type { CliContext, RunCommand } from '../context/cli-context.ts'
import { getInterruptedExit, getWorstExitStatus } from '../flags/exit-status.ts'
import { formatAnnotations } from '../report/report-annotations.ts'
import { formatMarkdown } from '../report/report-markdown.ts'
import { type ActionInputs, type FailOn, readActionInputs } from './action-inputs.ts'
import {
  type ActionRun,
  type Answered,
  chooseReportPath,
  findWorstCode,
  type Printed,
  type Question,
} from './action-run.ts'
import { RunnerCommands } from './runner-commands.ts'

/**
 * @returns 0; 1 drift as set by `fail-on`, or an invalid record; 2 error; 3 not fully observed; 4
 * credentials or rights
 */
export async function runAction(cli: CliContext, run: RunCommand): Promise<number> {
  const runner = new RunnerCommands(cli)
  try {
    const inputs = readActionInputs(cli.env)
    printWhatIsMissing(inputs, cli, runner)
    const printed = (argv: readonly string[]): Promise<Printed> =>
      runWith(argv, { inputs, cli }, run)
    const action: ActionRun = {
      inputs,
      runner,
      cli,
      run: printed,
      ask: (question) => answer(buildArguments(question, inputs), action),
    }
    if (inputs.command === 'verify-pr')
      return await (await import('./verify-pr.ts')).verifyPullRequest(action)
    if (inputs.command === 'preview')
      return await (await import('./preview-pr.ts')).previewPullRequest(action)
    return await report(inputs.command, action)
  } catch (thrown) {
    if (cli.signal.aborted) return getInterruptedExit(cli.signal)
    const failures = listFailures(thrown)
    for (const { code, what, why, remedy } of failures)
      runner.annotate('error', `${code}: ${what}: ${why}. ${remedy}`, { title: 'backporch' })
    return getWorstExitStatus(failures)
  }
}

async function report(
  command: 'scan' | 'diff',
  { inputs, runner, cli, ask }: ActionRun,
): Promise<number> {
  const answers: Answered[] = []
  // Sequential, because scans of one repository push to the same ledger.
  for (const target of inputs.targets)
    answers.push(await ask({ command, packages: inputs.packages, target }))
  const list = mergeReports(answers.map((answered) => answered.list))
  runner.printLines(formatAnnotations(list))
  if (inputs.summary) runner.writeSummary(`${formatMarkdown(list)}${formatProposalLines(list)}`)
  runner.writeOutputs(createOutputs(list, cli))
  const failed = findWorstCode(answers.map(({ code }) => code))
  return failed !== 0 ? failed : shouldFail(list, inputs.failOn) ? 1 : 0
}

function printWhatIsMissing(
  { command, ownToken }: ActionInputs,
  cli: Pick<CliContext, 'env'>,
  runner: RunnerCommands,
): void {
  if (command === 'scan' && ownToken) {
    const why =
      'workflows on pull requests of GITHUB_TOKEN, and so required checks, wait until a person with write access approves them ' +
      '(an Enterprise Server starts none), and it opens pull requests only where Settings > Actions > General allows it'
    runner.annotate(
      'warning',
      `${why}. Give the token of a GitHub App, or BACKPORCH_APP_ID and BACKPORCH_APP_PRIVATE_KEY`,
      {
        title: 'backporch',
      },
    )
  }
  if (!cli.env['BACKPORCH_KEY']) {
    const why =
      'BACKPORCH_KEY is not set: this run creates its own key, and does not recognise decisions and hidden values of other runs'
    runner.annotate('warning', `${why}. Set it to a secret made once with "openssl rand -hex 32"`, {
      title: 'backporch',
    })
  }
}

function buildArguments(
  { command, packages, target, branch: asked }: Question,
  inputs: ActionInputs,
): string[] {
  const branch = asked ?? inputs.branch
  return [
    command,
    ...['-o', 'json', '--no-exit-code', '--repo', inputs.repo, ...target.flags],
    ...(branch === undefined ? [] : ['--branch', branch]),
    ...(inputs.partialOk ? ['--partial', 'ok'] : []),
    '--',
    ...packages,
  ]
}

async function answer(argv: readonly string[], { runner, run }: ActionRun): Promise<Answered> {
  const { code, stdout, stderr: reported } = await run(argv)
  runner.log(reported)
  const list = readList(stdout)
  if (list !== undefined) return { code, list }
  const [first] = reported.split('\n').filter((line) => line.startsWith('error'))
  const message =
    first === undefined
      ? `backporch ${argv[0]} printed no report and ended with exit code ${code}`
      : first.replace(/^error /, '')
  runner.annotate('error', message, { title: 'backporch' })
  return { code: code === 0 ? 2 : code, list: mergeReports([]) }
}

async function runWith(
  argv: readonly string[],
  { inputs, cli }: Pick<ActionRun, 'inputs' | 'cli'>,
  run: RunCommand,
): Promise<Printed> {
  const { token, signingKey } = inputs
  const [stdout, stderr]: [string[], string[]] = [[], []]
  const env = {
    ...cli.env,
    ...(token === undefined ? {} : { GITHUB_TOKEN: token }),
    ...(signingKey === undefined ? {} : { BACKPORCH_SIGNING_KEY: signingKey }),
  }
  const into = (parts: string[]) => ({ write: (text: string) => parts.push(text) })
  const code = await run(
    argv,
    cli.at({ cwd: cli.cwd, env, clock: cli.clock, stdout: into(stdout), stderr: into(stderr) }),
  )
  cli.signal.throwIfAborted()
  return { code, stdout: stdout.join(''), stderr: stderr.join('') }
}

function readList(text: string): DriftReportList | undefined {
  if (text === '') return undefined
  const read = driftReportListSchema.safeParse(parseJson(text))
  if (read.success) return read.data
  throw new Failure({
    code: 'BP9001',
    what: 'backporch does not understand its own report',
    why: convertToOneLine(read.error.issues[0]?.message ?? 'it has an unexpected structure', 200),
    remedy: 'report this with the version of backporch',
  })
}

function mergeReports(lists: readonly DriftReportList[]): DriftReportList {
  const times = lists.flatMap(({ observedAt }) => (observedAt === '' ? [] : [observedAt])).sort()
  const proposals = lists.flatMap((list) => list.proposals ?? [])
  return {
    apiVersion: API_VERSION,
    kind: 'DriftReportList',
    observedAt: times[0] ?? '',
    incomplete: lists.flatMap(({ incomplete }) => incomplete),
    items: lists.flatMap(({ items }) => items),
    ...(proposals.length === 0 ? {} : { proposals }),
  }
}

/** `report-json` is a path, because an output is limited to 1 MB. */
function createOutputs(
  list: DriftReportList,
  cli: Pick<CliContext, 'appendText' | 'clock' | 'env'>,
): Record<string, string> {
  const changes = list.items.flatMap(({ spec }) => spec.changes)
  const path = chooseReportPath(cli)
  if (path !== undefined) cli.appendText(path, `${formatJson(list as unknown as Json, 2)}\n`)
  return {
    drifted: String(changes.length > 0),
    risk: RISKS.find((risk) => changes.some((change) => change.risk === risk)) ?? 'none',
    'report-json': path ?? '',
    prs: JSON.stringify((list.proposals ?? []).map(({ label, url }) => ({ label, url }))),
  }
}

function formatProposalLines({ proposals = [] }: DriftReportList): string {
  const lines = proposals.flatMap(({ label, url }) =>
    /^https?:\/\/[\w.:/~%-]+$/.test(url)
      ? [`- [${label.replace(/[^\w#./-]/g, '')}](${url})\n`]
      : [],
  )
  return lines.length === 0 ? '' : `\n### Proposals\n\n${lines.join('')}`
}

/**
 * Rejected drift does not fail, because the decision was to leave it. A stuck syncer has no risk.
 */
function shouldFail({ items }: DriftReportList, failOn: FailOn): boolean {
  if (failOn === 'none') return false
  if (failOn === 'any' && items.some(({ status }) => status.stuckSince !== undefined)) return true
  const grave = failOn === 'any' ? RISKS : RISKS.slice(0, RISKS.indexOf(failOn) + 1)
  return items.some(
    ({ spec, status }) =>
      status.state !== 'Silenced' && spec.changes.some(({ risk }) => grave.includes(risk)),
  )
}
