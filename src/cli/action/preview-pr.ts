import { Failure } from '@backporch/kyaml/failure'
import { parseJson } from '@backporch/kyaml/json'
import { RISKS } from '../../drift/compare/drift.ts'
import { previewText } from '../../proposal/preview/preview-text.ts'
import { type Preview, previewSchema } from '../../record/documents/preview.ts'
import type { ActionInputs } from './action-inputs.ts'
import { type ActionRun, chooseReportPath, type Printed } from './action-run.ts'
import { type EventPullRequest, readPullRequest } from './pull-request-event.ts'

const SUMMARY = {
  name: 'the summary',
  bodyLimit: 500_000,
  titleLimit: 256,
  alerts: true,
  folds: true,
  fileUrl: () => '',
  branchFileUrl: () => '',
} as const

/**
 * @returns 0; 2 to 4 if a unit could not be built or the comment could not be written. A fork's
 * token may not write comments: only a warning
 */
export async function previewPullRequest(action: ActionRun): Promise<number> {
  const { runner, cli, inputs } = action
  const pull = readPullRequest(cli.env, 'preview')
  const printed = await action.run(buildArguments(pull, inputs))
  runner.log(printed.stderr)
  const preview = read(printed)
  if (preview === undefined) {
    const [
      first = `backporch preview printed no document and ended with exit code ${printed.code}`,
    ] = listErrors(printed)
    runner.annotate('error', first, { title: 'backporch' })
    return printed.code === 0 ? 2 : printed.code
  }
  if (inputs.summary)
    runner.writeSummary(previewText(preview, { dialect: SUMMARY, version: cli.version }))
  const changes = preview.items.flatMap((unit) => unit.changes)
  const path = chooseReportPath(cli)
  if (path !== undefined) cli.appendText(path, printed.stdout)
  runner.writeOutputs({
    risk: RISKS.find((risk) => changes.some((change) => change.risk === risk)) ?? 'none',
    'report-json': path ?? '',
  })
  const refused = listErrors(printed).find((line) => /^BP50(?:02|03|06):/.test(line))
  if (preview.head.fork && refused !== undefined && inputs.comment) {
    runner.annotate(
      'warning',
      `the comment was not written, because the token of the workflow of a fork has no right to write it: ${refused}`,
      {
        title: 'backporch',
      },
    )
    return 0
  }
  for (const line of listErrors(printed)) runner.annotate('error', line, { title: 'backporch' })
  return printed.code
}

function buildArguments(pull: EventPullRequest, inputs: ActionInputs): readonly string[] {
  const { number, head, base, fork } = pull
  const of =
    inputs.comment && number !== undefined
      ? ['--pull-request', String(number), '--comment']
      : ['--head', head.commit || head.ref, '--branch', base.ref]
  return [
    'preview',
    ...['-o', 'json', '--repo', inputs.repo, ...of],
    ...(fork ? ['--fork'] : []),
    ...listTargetFlags(inputs),
    '--',
    ...inputs.packages,
  ]
}

/** One run for all clusters gives one comment. */
function listTargetFlags({ targets }: ActionInputs): readonly string[] {
  const [first] = targets
  if (first === undefined || targets.length === 1) return first?.flags ?? []
  const own = new Set(['--context', '--cluster'])
  const shared = first.flags.filter(
    (flag, at, all) => !own.has(flag) && !own.has(all[at - 1] ?? ''),
  )
  return ['--contexts', targets.flatMap(({ cluster }) => cluster ?? []).join(','), ...shared]
}

function listErrors({ stderr }: Printed): readonly string[] {
  return stderr
    .split('\n')
    .flatMap((line) => (line.startsWith('error ') ? [line.slice('error '.length)] : []))
}

function read({ stdout }: Printed): Preview | undefined {
  if (stdout === '') return undefined
  const found = previewSchema.safeParse(parseJson(stdout))
  if (found.success) return found.data
  throw new Failure({
    code: 'BP9001',
    what: 'backporch does not understand its own preview',
    why: found.error.issues[0]?.message ?? 'it has an unexpected structure',
    remedy: 'report this with the version of backporch',
  })
}
