/** Recorded clusters, with the real commands and real git. */
import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { Failure } from '@backporch/kyaml/failure'
import type { CliContext, ProcessContext, RunCommand } from '../context/cli-context.ts'
import { type DemoFolder, makeDemoFolder } from './demo-folder.ts'
import recordings from './recordings.json' with { type: 'json' }
import { Stage } from './stage.ts'
import { CLUSTER, DECISIONS, DEMO_KEY, SYNCER, TIMES } from './story.ts'

interface DemoOptions {
  readonly controlPlane: boolean
  readonly folder: string | undefined
}

const LIVE = { drifted: '../edited', settled: '../synced' } as const

/**
 * @throws StoryBroken if a result differs; Failure BP1001, BP4008 or BP4009 if the folder or git is
 * unavailable
 */
export async function runDemo(
  cli: CliContext,
  options: DemoOptions,
  run: RunCommand,
): Promise<number> {
  if (options.controlPlane) return runControlPlaneDemo(cli, options, run)
  const folder = await makeDemoFolder(cli, options.folder)
  const stage = new Stage(cli, folder, run)
  await writeRecordings(folder)
  stage.printTitle(
    'A hand edit in a cluster becomes a package revision in git',
    `Everything happens in ${folder.root}; nothing else is touched.`,
    `The cluster is a recording of a real API server. Commands, repository and commits are real.`,
  )
  await printDrift(stage, LIVE.drifted)
  await printDecision(stage, LIVE.drifted)
  stage.printChapter(
    `The syncer applies the merged commit, and the cluster agrees`,
    `(${SYNCER} applied it between the two recordings. With a cluster of your own, your syncer does.)`,
  )
  stage.setTime(TIMES.settled)
  await stage.runBackporch(['scan', '--live', LIVE.settled], 0)
  await reportEnd(stage)
  stage.say(...listNextSteps(folder))
  return 0
}

async function printDrift(stage: Stage, live: string): Promise<void> {
  stage.printChapter(
    'Two kpt packages in git',
    `The syncer (${SYNCER}) has applied them to the cluster ${CLUSTER}.`,
  )
  await stage.runGit('log', '--oneline', '--decorate')
  stage.setTime(TIMES.drifted)
  stage.printChapter(
    'Then people worked in the cluster by hand. What differs, who did it, and how risky is it?',
    'Reads only; the exit code is 1 because there is drift. Values of Secrets are never shown or written.',
  )
  const { output } = await stage.runBackporch(['diff', '--live', live], 1)
  for (const part of [
    'spec.replicas',
    'env[name=TRACE]',
    'data.banner',
    'missing',
    'unexpected',
    'SEC-SECRET',
    'resources.requests.cpu',
  ]) {
    stage.check(output.includes(part), `diff names ${part}`)
  }
  stage.check(output.includes('8 changes in 5 objects'), 'there are 8 changes in 5 objects')
  stage.printChapter(
    'Record it',
    'Without a policy the mode is Warn: a branch that Porch lists as a Draft, and a ledger of the current state.',
  )
  await stage.runBackporch(['scan', '-o', 'name', '--live', live], 1)
  await stage.runGit('branch', '--list')
}

async function printDecision(stage: Stage, live: string): Promise<void> {
  stage.setTime(TIMES.adopted)
  stage.printChapter(
    'Decide: Adopt what should stay, Release what git should not manage, Restore the rest',
    'The numbers are those of the diff above.',
  )
  await stage.runBackporch([...DECISIONS.adopt, '--live', live], 0)
  const { output } = await stage.runBackporch([...DECISIONS.release, '--live', live], 0)
  const branch = /proposed\/apps\/web\/drift-[0-9a-f]{8}/.exec(output)?.[0]
  stage.check(branch !== undefined, 'the proposal is a branch proposed/apps/web/drift-…')
  stage.say(
    'Adopt edits the authored file and nothing but the adopted fields; comments and layout stay:',
  )
  const edit = await stage.runGit(
    'diff',
    '-U0',
    'main',
    branch ?? '',
    '--',
    'apps/web/deployment.yaml',
  )
  stage.check(
    edit.includes('replicas: 5') && edit.includes('# moved by the release pipeline only'),
    'the file is edited in place',
  )
  const { output: proposed } = await stage.runBackporch(
    [...DECISIONS.adoptRequest, '--live', live],
    0,
  )
  stage.say(
    'No file of apps/orders states the request: the function set-default-requests adds it, so Adopt edits its argument:',
  )
  const argument = await stage.runGit(
    'diff',
    '-U0',
    'main',
    /proposed\/apps\/orders\/drift-[0-9a-f]{8}/.exec(proposed)?.[0] ?? '',
    '--',
    'apps/orders/Kptfile',
  )
  stage.check(argument.includes('      cpu: "200m"'), 'the argument of the function is edited')
  stage.setTime(TIMES.approved)
  stage.printChapter(
    'Approve',
    'A merge commit on main, the tag that Porch would set, the branch gone. Nothing goes to the cluster.',
  )
  for (const name of ['apps/orders', 'apps/web'])
    await stage.runBackporch(['approve', name, '--yes', '--live', live], 0)
  const tags = await stage.runGit('tag', '--list')
  for (const name of ['apps/orders', 'apps/web'])
    stage.check(tags.includes(`${name}/v2`), `the merge has the tag ${name}/v2`)
}

async function reportEnd(stage: Stage): Promise<void> {
  const { output } = await stage.runBackporch(['status'], 0)
  stage.check((output.match(/InSync/g) ?? []).length === 2, 'both packages are in sync')
  stage.printChapter(
    'Git alone shows what happened, in any clone',
    'The record, the decision and the live status are commits.',
  )
  const { output: history } = await stage.runBackporch(
    ['history', '--columns', 'when,change,resolution,decided by,commit'],
    0,
  )
  stage.check(
    history.includes('mixed') && history.includes('Ada Lovelace'),
    'history names the decision and who made it',
  )
  await stage.runGit('log', '--graph', '--oneline', 'main', 'drift-ledger')
}

async function writeRecordings(folder: DemoFolder): Promise<void> {
  for (const name of ['drifted', 'settled'] as const) {
    const files: Readonly<Record<string, unknown>> = { ...recordings.schemas, ...recordings[name] }
    for (const [path, value] of Object.entries(files))
      await folder.write(`${LIVE[name].slice(3)}/${path}`, `${JSON.stringify(value, null, 2)}\n`)
  }
}

function listNextSteps(folder: DemoFolder): string[] {
  return [
    'What to type next:',
    `  cd ${folder.repository}`,
    `  alias backporch='node ${findLauncher()}'`,
    `  export BACKPORCH_KEY=${DEMO_KEY}`,
    '  git show main^2                                     the proposal, with trailers for git log',
    '  git show drift-ledger:clusters/prod/apps--web/resourcegroup.yaml',
    '  backporch get packages                              the revisions, as porchctl lists them',
    '  backporch diff --live ../edited                     the same hand edits against the new main',
    'In a repository of yours, against the cluster of your kubeconfig (reads only):',
    '  backporch diff',
    `To remove everything: rm -r ${folder.root}`,
  ]
}

function findLauncher(): string {
  const locations = ['../../launch.cjs', '../src/launch.cjs'].map((path) =>
    fileURLToPath(new URL(path, import.meta.url)),
  )
  return locations.find((path) => existsSync(path)) ?? 'launch.cjs'
}

interface ControlPlaneDemo {
  runControlPlaneDemo(cli: ProcessContext, folder: DemoFolder, run: RunCommand): Promise<number>
}

/** In the test folder, with the code that builds and starts an API server. */
async function runControlPlaneDemo(
  cli: ProcessContext,
  options: DemoOptions,
  run: RunCommand,
): Promise<number> {
  const module = new URL('../../../test/demo/control-plane-demo.ts', import.meta.url)
  if (!import.meta.url.endsWith('.ts') || !existsSync(module)) {
    throw new Failure({
      code: 'BP1001',
      what: 'the packed backporch has no API server to run',
      why: '--control-plane builds and starts one from the sources of the tests',
      remedy: 'clone the repository and run: npm run demo -- --control-plane',
    })
  }
  const { runControlPlaneDemo: play }: ControlPlaneDemo = await import(module.href)
  return play(cli, await makeDemoFolder(cli, options.folder), run)
}
