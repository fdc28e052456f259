/** Check runs as GitHub's documentation has them: made by Apps only, annotations are added and never taken away, buttons are not told. */
import type { RouteAnswer, RouteInput } from './emulated-routes.ts'
import type { EmulatedCheckRun } from './emulated-state.ts'
import type { UsedOperation } from './used-operations.ts'

const REPOSITORY = '/repos/{owner}/{repo}'

export const CHECK_RUN_ROUTES: Readonly<
  Partial<Record<UsedOperation, (input: RouteInput) => RouteAnswer>>
> = {
  [`GET ${REPOSITORY}/commits/{ref}/check-runs` as const]: ({
    state,
    parameters,
    query,
  }: RouteInput) => {
    const found = state.checkRuns.filter(
      (run) =>
        run.head_sha === parameters['ref'] &&
        state.passes('check_name', query, (name) => run.name === name) &&
        state.passes('app_id', query, (app) => String(run.app) === app),
    )
    // The latest of each name and App, as the filter is unless another one is asked for.
    const latest = new Map(found.map((run) => [`${run.app} ${run.name}`, run]))
    const shown = query.get('filter') === 'all' ? found : [...latest.values()]
    return { status: 200, body: { total_count: shown.length, check_runs: shown.map(shapeOf) } }
  },

  [`POST ${REPOSITORY}/check-runs` as const]: ({ state, actor, body }: RouteInput) => {
    const app = state.apps.get(actor)
    if (app === undefined)
      return { status: 403, body: { message: 'You must authenticate via a GitHub App.' } }
    const run: EmulatedCheckRun = {
      id: 70_000 + state.next(),
      app,
      name: String(body['name']),
      head_sha: String(body['head_sha']),
      external_id: null,
      status: 'queued',
      conclusion: null,
      details_url: null,
      output: { title: '', summary: '', annotations: [] },
      actions: [],
    }
    state.checkRuns.push(run)
    change(run, body)
    return { status: 201, body: shapeOf(run) }
  },

  [`PATCH ${REPOSITORY}/check-runs/{check_run_id}` as const]: ({
    state,
    actor,
    parameters,
    body,
  }: RouteInput) => {
    const run = state.checkRuns.find(({ id }) => id === Number(parameters['check_run_id']))
    if (run === undefined) return { status: 404, body: { message: 'Not Found' } }
    if (run.app !== state.apps.get(actor))
      return {
        status: 403,
        body: {
          message:
            'Invalid app_id `0` - check run can only be modified by the GitHub App that created it.',
        },
      }
    change(run, body)
    return { status: 200, body: shapeOf(run) }
  },
}

function change(run: EmulatedCheckRun, body: Readonly<Record<string, unknown>>): void {
  const text = (key: string): string | undefined =>
    typeof body[key] === 'string' ? body[key] : undefined
  run.external_id = text('external_id') ?? run.external_id
  run.details_url = text('details_url') ?? run.details_url
  run.status = text('status') ?? run.status
  run.conclusion = text('conclusion') ?? run.conclusion
  if (Array.isArray(body['actions'])) run.actions = body['actions']
  const output = body['output'] as
    | { title: string; summary: string; annotations?: readonly unknown[] }
    | undefined
  if (output === undefined) return
  const annotations = [...run.output.annotations, ...(output.annotations ?? [])]
  run.output = { title: output.title, summary: output.summary, annotations }
}

function shapeOf({ app, actions: _, output, ...run }: EmulatedCheckRun): unknown {
  const { title, summary, annotations } = output
  return {
    ...run,
    app: { id: app },
    output: { title, summary, text: null, annotations_count: annotations.length },
  }
}
