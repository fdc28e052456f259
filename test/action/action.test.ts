/**
 * The GitHub Action with `INPUT_*` variables and the files of the step. What is about the process is shown with the bundled file, as
 * the runner starts it (`bundled`); what is about the answers runs in this process.
 */
import assert from 'node:assert/strict'
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { parse } from 'yaml'
import { readActionInputs } from '../../src/cli/action/action-inputs.ts'
import { backporchHere } from '../e2e/run-here.ts'
import {
  bundled,
  environment,
  folder,
  level,
  OUTPUT,
  obeyed,
  PROPOSING,
  prepareSteps,
  ROOT,
  repositoryLike,
  step,
} from './action-step.ts'
import { commitFiles, git, writeRecording } from './stage.ts'

prepareSteps()

describe('action.yml', () => {
  const action: unknown = parse(readFileSync(join(ROOT, 'action.yml'), 'utf8'))
  const text = JSON.stringify(action)

  it('starts the bundled file, and describes every input and output of the code', () => {
    const { runs, inputs, outputs } = action as Record<string, Record<string, unknown>>
    assert.deepEqual(runs, { using: 'node24', main: 'dist/action.mjs' })
    const read = new Set<string>()
    const get = (values: Record<string, string>, name: string): string | undefined => {
      read.add(name)
      return values[name]
    }
    const env = new Proxy<Record<string, string>>({ INPUT_TOKEN: 'a token' }, { get })
    readActionInputs(env)
    const names = [...read].flatMap((name) =>
      name.startsWith('INPUT_') ? [name.slice('INPUT_'.length).toLowerCase()] : [],
    )
    assert.deepEqual(Object.keys(inputs ?? {}).sort(), names.sort())
    assert.deepEqual(Object.keys(outputs ?? {}).sort(), ['drifted', 'prs', 'report-json', 'risk'])
    assert.ok(text.includes('github.token'))
  })
})

describe('the step scan', () => {
  it('records the drift, annotates the worst first, and fails on high risk', async () => {
    const repository = repositoryLike()
    const run = await step(repository, {}, {}, bundled)
    assert.equal(run.code, 1, run.stdout)
    assert.equal(run.outputs['drifted'], 'true')
    assert.equal(run.outputs['risk'], 'high')
    const list: unknown = JSON.parse(readFileSync(run.outputs['report-json'] ?? '', 'utf8'))
    assert.equal((list as { items: readonly unknown[] }).items.length, 2)
    assert.match(run.summary, /^## Drift: 9 changes in 2 of 2 packages\n/)
    const commands = obeyed(run.stdout)
    assert.match(
      commands[0] ?? '',
      /^::error file=apps\/web\/[\w.]+,line=\d+,title=drift in prod%3A /,
    )
    assert.ok(level('warning', run).length > 0)
    assert.match(
      git(repository, environment, 'branch', '--list', 'drafts/*'),
      /drafts\/apps\/web\/drift-/,
    )
    assert.equal(run.stderr, '')
  })

  it('fails as fail-on says, and not otherwise', async () => {
    const repository = repositoryLike()
    assert.equal((await step(repository, { 'fail-on': 'none' })).code, 0)
    assert.equal((await step(repository, { 'fail-on': 'critical' })).code, 0)
    assert.equal((await step(repository, { 'fail-on': 'any', command: 'diff' })).code, 1)
  })

  it('gives open proposals as an output, and does not fail for drift that was rejected', async () => {
    const repository = repositoryLike()
    commitFiles(repository, environment, 'main', { '.drift/policy.yaml': PROPOSING })
    const run = await step(repository, { 'fail-on': 'none', packages: 'apps/web' })
    assert.equal(run.code, 0, run.stdout)
    assert.equal((await step(repository, { packages: 'apps/web' })).code, 1)
    const env = { ...environment, HOME: join(folder, 'home'), BACKPORCH_KEY: 'k'.repeat(32) }
    const argv = [
      'reject',
      'apps/web',
      '--yes',
      '--repo',
      repository,
      '--live',
      'live',
      '--cluster',
      'prod',
    ]
    assert.equal((await backporchHere(argv, { cwd: folder, env })).code, 0)
    const silent = await step(repository, { packages: 'apps/web' })
    assert.deepEqual(
      [silent.code, silent.outputs['drifted'], silent.outputs['prs']],
      [0, 'true', '[]'],
      silent.stdout,
    )
    assert.match(
      run.outputs['prs'] ?? '',
      /^\[\{"label":"proposed\/apps\/web\/drift-\w+","url":""\}\]$/,
    )
  })

  it('obeys a mounted policy of the operator, whatever the repository says', async () => {
    const placement = (namespaces: string): string =>
      `apiVersion: backporch.dev/v1alpha1\nkind: Placement\nmetadata: {name: bounds}\nspec: {clusters: [prod], packages: ["apps/**"], allow: {namespaces: [${namespaces}]}}\n`
    const repository = repositoryLike()
    commitFiles(repository, environment, 'main', { '.drift/bounds.yaml': placement('"*"') })
    // As the kubelet mounts a ConfigMap: the files are links into a folder that it exchanges as a whole.
    const mounted = join(folder, 'mounted')
    mkdirSync(join(mounted, '..2026_11_23'), { recursive: true })
    symlinkSync('..2026_11_23', join(mounted, '..data'))
    writeFileSync(join(mounted, '..2026_11_23', 'bounds.yaml'), placement('elsewhere'))
    symlinkSync(join('..data', 'bounds.yaml'), join(mounted, 'bounds.yaml'))
    const run = await step(repository, { 'operator-policy': mounted, packages: 'apps/web' })
    assert.deepEqual([run.code, run.outputs['drifted']], [3, 'false'], run.stdout)
    assert.match(run.summary, /BP3017/)
    assert.match(run.summary, /of the operator(?:'|&#39;)s Placement bounds/)
    const missing = await step(repository, { 'operator-policy': join(folder, 'nowhere') })
    assert.equal(missing.code, 2, missing.stdout)
    assert.match(missing.stdout, /BP1001/)
  })

  it('writes nothing with the command diff', async () => {
    const repository = repositoryLike()
    await step(repository, { command: 'diff' })
    assert.equal(git(repository, environment, 'branch', '--list').trim(), '* main')
  })

  it('shows at most ten annotations per level, and all of them in the summary', async () => {
    const repository = repositoryLike()
    const settings = Array.from({ length: 14 }, (_none, at) => [`key${at}`, 'in git'] as const)
    const file = configMap(Object.fromEntries(settings))
    commitFiles(repository, environment, 'main', { 'apps/web/many.yaml': file })
    const recorded = join(folder, 'many')
    writeRecording(recorded)
    writeFileSync(
      join(recorded, 'many.json'),
      JSON.stringify(live(Object.fromEntries(settings.map(([name]) => [name, 'live'])))),
    )
    const run = await step(repository, { live: recorded })
    assert.equal(level('warning', run).length, 10)
    for (const [name] of settings) assert.ok(run.summary.includes(`data.${name}`), name)
  })

  it('lets no value from a cluster become a command, an output or markup', async () => {
    const repository = repositoryLike()
    const hostile =
      '%0A::error::x\n::set-output name=drifted::false\n##[command]x\r::add-mask::a,b:c <img src=x> @all'
    commitFiles(repository, environment, 'main', {
      'apps/web/many.yaml': configMap({ evil: 'in git' }),
    })
    const recorded = join(folder, 'hostile')
    writeRecording(recorded)
    writeFileSync(join(recorded, 'many.json'), JSON.stringify(live({ evil: hostile })))
    const run = await step(repository, { live: recorded }, {}, bundled)
    const commands = obeyed(`${run.stdout}\n${run.stderr}`)
    const ours = commands.filter((line) => line.includes('data.evil'))
    assert.equal(ours.length, 1, commands.join('\n'))
    assert.ok(
      ours[0]?.includes(
        '"in git" → "%250A::error::x\\n::set-output name=drifted::false\\n#\\u{23}[command]',
      ),
      ours[0],
    )
    assert.deepEqual(
      commands.filter((line) => !/^::(error|warning|notice) [^:]*::/.test(line)),
      [],
    )
    assert.equal(run.outputs['drifted'], 'true')
    assert.doesNotMatch(run.summary, /^::|##\[/m)
    // Nothing of it stands outside of code.
    assert.doesNotMatch(run.summary.replace(/`[^`\n]*`/g, ''), /<img|@all/)
  })

  it('continues with a warning when the summary cannot be written', async () => {
    const run = await step(repositoryLike(), { 'fail-on': 'none' }, { GITHUB_STEP_SUMMARY: folder })
    assert.equal(run.code, 0)
    assert.match(
      level('warning', run).at(-1) ?? '',
      /the summary of the step could not be written \(EISDIR\)/,
    )
    assert.equal(run.outputs['drifted'], 'true')
  })

  it('fails when the outputs cannot be written', async () => {
    const run = await step(repositoryLike(), { 'fail-on': 'none' }, { [OUTPUT]: folder }, bundled)
    assert.equal(run.code, 2)
    assert.match(
      level('error', run).at(-1) ?? '',
      /BP4008: cannot write the outputs of the step: EISDIR/,
    )
  })

  it('names a wrong or missing input in one annotation', async () => {
    const cases: readonly [Readonly<Record<string, string>>, number, RegExp][] = [
      [
        { command: 'destroy' },
        2,
        /BP1001: the input command cannot be used: it is "destroy"\. give one of scan, diff, verify-pr/,
      ],
      [{ 'fail-on': 'high,low' }, 2, /the input fail-on cannot be used/],
      [{ clusters: 'a b' }, 2, /the input live cannot be used/],
      [{ live: '' }, 2, /BP1006: /],
      [{ live: '/nowhere' }, 2, /BP1010: /],
      [{ repo: join(folder, 'no-repository') }, 2, /BP1002: /],
      [{ packages: 'apps/none' }, 2, /BP1004: /],
    ]
    const repository = repositoryLike()
    for (const [inputs, code, text] of cases) {
      const run = await step(repository, inputs)
      assert.equal(run.code, code, run.stdout)
      assert.equal(run.stderr, '', 'the runner would look for commands in it')
      const errors = level('error', run)
      assert.equal(errors.length, 1, run.stdout)
      assert.match(errors[0] ?? '', text)
    }
  })

  it('warns about a token whose workflows wait for approval, and about a temporary key', async () => {
    const both = { token: 'ghs_canary', 'workflow-token': 'ghs_canary', 'fail-on': 'none' }
    const repository = repositoryLike()
    const run = await step(repository, both, { BACKPORCH_KEY: '' })
    const [first = '', second = ''] = level('warning', run)
    assert.match(
      first,
      /workflows on pull requests of GITHUB_TOKEN, .* wait until a person .* approves them.*Settings > Actions > General/,
    )
    assert.match(second, /BACKPORCH_KEY is not set/)
    assert.doesNotMatch(run.stdout + run.stderr + run.summary, /ghs_canary/)
    const app = await step(repository, { ...both, token: 'ghs_other' })
    assert.doesNotMatch(app.stdout, /GITHUB_TOKEN/)
  })

  it('writes no ledger commit while nothing differs, although each machine creates its own key', async () => {
    const repository = repositoryLike()
    for (const home of ['first', 'second', 'third'])
      await step(repository, { 'fail-on': 'none' }, { BACKPORCH_KEY: '', HOME: join(folder, home) })
    assert.equal(git(repository, environment, 'rev-list', '--count', 'drift-ledger'), '1')
  })

  it('treats an empty environment as a manual run: no files, and the working folder as repository', async () => {
    const run = await bundled({ PATH: process.env['PATH'], HOME: join(folder, 'home') })
    assert.equal(run.code, 2)
    assert.match(run.stdout, /^::error .*BP1002/m)
  })
})

function configMap(data: Readonly<Record<string, string>>): string {
  return `${JSON.stringify({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'many', namespace: 'shop' }, data })}\n`
}

/** Applied by the syncer, and then written over by hand. */
function live(data: Readonly<Record<string, string>>): object {
  const fields = Object.fromEntries(Object.keys(data).map((name) => [`f:${name}`, {}]))
  return {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: {
      name: 'many',
      namespace: 'shop',
      uid: '7e57',
      resourceVersion: '9',
      managedFields: [
        {
          manager: 'kpt',
          operation: 'Apply',
          apiVersion: 'v1',
          time: '2026-08-20T09:02:00Z',
          fieldsType: 'FieldsV1',
          fieldsV1: {},
        },
        {
          manager: 'kubectl-edit',
          operation: 'Update',
          apiVersion: 'v1',
          time: '2026-08-21T14:02:00Z',
          fieldsType: 'FieldsV1',
          fieldsV1: { 'f:data': fields },
        },
      ],
    },
    data,
  }
}
