/** `npm run demo -- --control-plane`: the story against a real API server, until the cluster has come back. */
import { Failure } from '@backporch/kyaml/failure'
import type { CliContext, RunCommand } from '../../src/cli/context/cli-context.ts'
import type { DemoFolder } from '../../src/cli/demo/demo-folder.ts'
import { DEMO_FILES, NAMESPACE } from '../../src/cli/demo/demo-package.ts'
import { Stage } from '../../src/cli/demo/stage.ts'
import { CLUSTER, DEMO_KEY, SYNCER } from '../../src/cli/demo/story.ts'
import type { ControlPlane } from '../controlplane/control-plane.ts'
import { startControlPlane } from '../controlplane/start-control-plane.ts'
import { HAND_EDITS, makeHandEdits } from './hand-edits.ts'
import { prepareCluster, syncPackage } from './syncer.ts'

const POLICY = `apiVersion: backporch.dev/v1alpha1
kind: DriftPolicy
metadata:
  name: shop
  annotations: {config.kubernetes.io/local-config: "true"}
spec:
  mode: Propose
  # After a merge, and only then, backporch itself applies what was approved.
  settle: backporch
  # Not to wait: what people changed a moment ago is proposed at once.
  detect: {minAge: 0s}
`

/**
 * @returns 0 when everything was as the story says
 * @throws StoryBroken otherwise; Failure BP3001 where no API server can be run
 */
export async function runControlPlaneDemo(
  world: CliContext,
  folder: DemoFolder,
  run: RunCommand,
): Promise<number> {
  const plane = await startControlPlane({ report: (message) => world.stderr.write(`${message}\n`) })
  if (plane.state === 'unavailable') {
    throw new Failure({
      code: 'BP3001',
      what: 'no API server for the demo',
      why: plane.why,
      remedy: 'without one: npm run demo',
    })
  }
  try {
    await play(
      world,
      { ...folder, env: { ...folder.env, KUBECONFIG: plane.kubeconfig } },
      run,
      plane,
    )
    return 0
  } finally {
    await plane.stop()
  }
}

async function play(
  world: CliContext,
  folder: DemoFolder,
  run: RunCommand,
  plane: ControlPlane,
): Promise<void> {
  const stage = new Stage(world, folder, run)
  const cluster = ['--cluster', CLUSTER]
  stage.printTitle(
    'A hand edit in a cluster becomes a package revision in git, and the cluster comes back',
    `Everything happens in ${folder.root}, against a real API server at ${plane.url}.`,
  )

  stage.printChapter(
    'Two kpt packages in git, applied to the cluster',
    `The field manager of the syncer is ${SYNCER}.`,
  )
  await folder.write('fleet/.drift/policy.yaml', POLICY)
  await folder.git('add', '.drift')
  await folder.git(
    'commit',
    '--quiet',
    '--message',
    'feat: drift is proposed, and settled by backporch after a merge',
  )
  await prepareCluster(plane, NAMESPACE)
  for (const name of ['apps/web', 'apps/orders']) await syncPackage(plane, DEMO_FILES, name, SYNCER)
  await stage.runGit('log', '--oneline', '--decorate')
  await stage.runBackporch(['diff', ...cluster], 0)
  stage.say('(no difference, so no line)')

  stage.printChapter(
    'Somebody works in the cluster by hand',
    'The requests are those of these commands, with their field managers:',
  )
  stage.say(...new Set(HAND_EDITS.map(({ command }) => `  ${command}`)))
  await makeHandEdits(plane)

  stage.printChapter(
    'One turn: what differs, recorded and proposed in git',
    'The policy says Propose. The default plan is Restore.',
  )
  const { output: scanned } = await stage.runBackporch(['scan', ...cluster], 1)
  stage.check(scanned.includes('8 changes in 5 objects'), 'there are 8 changes in 5 objects')
  await stage.runBackporch(
    ['adopt', 'apps/web', 'deployment/web', '-m', 'campaign week: it stays', ...cluster],
    0,
  )

  stage.printChapter(
    'Approve',
    'Merged first. Then, authorised by the merge commit, exactly the approved changes are written.',
  )
  for (const name of ['apps/orders', 'apps/web']) {
    const { output: approved } = await stage.runBackporch(
      ['approve', name, '--yes', '--wait', ...cluster],
      0,
    )
    stage.check(
      /sent \d+ writes? to prod for \d+ approved changes?/.test(approved) &&
        approved.includes('verified'),
      `the cluster was written to and verified for ${name}`,
    )
  }

  stage.printChapter('The cluster has come back, as git says it', 'Asked of the API server itself:')
  const answers = await Promise.all(
    EXPECTED.map(({ path }) => plane.request<LiveObject>('GET', path)),
  )
  const found = EXPECTED.map(({ what, holds }, index) => {
    const answer = answers[index]
    return { what, right: answer !== undefined && holds(answer.status, answer.body) }
  })
  stage.say(...found.map(({ what, right }) => `  ${right ? '✓' : '✗'} ${what}`))
  for (const { what, right } of found) stage.check(right, what)
  await stage.runBackporch(['diff', ...cluster], 0)
  const { output } = await stage.runBackporch(['status'], 0)
  stage.check((output.match(/InSync/g) ?? []).length === 2, 'both packages are in sync')
  await stage.runBackporch(['history', '--columns', 'when,change,resolution,decided by,commit'], 0)
  await stage.runGit('log', '--graph', '--oneline', 'main', 'drift-ledger')
  stage.say(
    'The API server ends with this demo. The repository stays, and tells the story without it:',
    `  cd ${folder.repository}`,
    `  export BACKPORCH_KEY=${DEMO_KEY}`,
    '  git show main^2',
    `To remove everything: rm -r ${folder.root}`,
  )
}

interface LiveObject {
  readonly spec?: {
    readonly replicas?: number
    readonly minAvailable?: number
    readonly template?: { readonly spec: { readonly containers: readonly Container[] } }
  }
  readonly data?: Readonly<Record<string, string>>
}

interface Container {
  readonly resources: { readonly requests: { readonly cpu: string } }
}

interface Expectation {
  readonly what: string
  readonly path: string
  readonly holds: (status: number, live: LiveObject) => boolean
}

const SHOP = `/api/v1/namespaces/${NAMESPACE}`
const EXPECTED: readonly Expectation[] = [
  {
    what: 'the ConfigMap has its timeout of 30s and its banner again',
    path: `${SHOP}/configmaps/web-config`,
    holds: (_status, { data }) => data?.['timeout'] === '30s' && data['banner'] === 'summer sale',
  },
  {
    what: 'the disruption budget is there again',
    path: `/apis/policy/v1/namespaces/${NAMESPACE}/poddisruptionbudgets/web`,
    holds: (status, { spec }) => status === 200 && spec?.minAvailable === 2,
  },
  {
    what: 'the key that was put into the Secret is gone',
    path: `${SHOP}/secrets/web-session`,
    holds: (status, { data }) => status === 200 && data?.['key'] === undefined,
  },
  {
    what: 'the object that git does not declare is gone',
    path: `${SHOP}/configmaps/web-debug`,
    holds: (status) => status === 404,
  },
  {
    what: 'the request that set-default-requests adds is 50m again',
    path: `/apis/apps/v1/namespaces/${NAMESPACE}/deployments/orders`,
    holds: (_status, { spec }) =>
      spec?.template?.spec.containers[0]?.resources.requests.cpu === '50m',
  },
  {
    what: 'the adopted five replicas stay',
    path: `/apis/apps/v1/namespaces/${NAMESPACE}/deployments/web`,
    holds: (_status, { spec }) => spec?.replicas === 5,
  },
]
