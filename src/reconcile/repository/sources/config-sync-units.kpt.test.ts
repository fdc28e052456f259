/** Units that RootSyncs and RepoSyncs of Config Sync apply, in a repository without a Kptfile. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { InProcessRenderer } from '../../../../test/fakes/in-process-renderer.ts'
import { appliedBy } from '../../../../test/fakes/live-object.ts'
import { TurnWorld, yaml } from '../../../../test/fakes/turn-world.ts'
import { whyNoKubectl } from '../../../../test/kpt/find-kubectl.ts'
import { addPackageBuilds, PackageBuilds } from '../../../adapters/functions/package-builds.ts'

const RENDERER = addPackageBuilds(
  new InProcessRenderer(),
  new PackageBuilds({ allowed: ['kubectl'], environment: process.env }),
)

const ROOT = `apiVersion: configsync.gke.io/v1beta1
kind: RootSync
metadata: {name: root-sync, namespace: config-management-system}
spec:
  sourceFormat: unstructured
  git: {repo: ssh://git@/deploy, branch: main, dir: /shared, auth: none}
`
const SHOP = `apiVersion: configsync.gke.io/v1beta1
kind: RepoSync
metadata: {name: repo-sync, namespace: shop}
spec:
  git: {repo: ssh://git@/deploy, revision: main, dir: shop, auth: none}
`
const FILES = {
  'shared/quota.yaml':
    'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: quota}\ndata:\n  cpu: "4" # cores\n',
  'shared/deep/audit.json':
    '{"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "audit", "namespace": "ops"}, "data": {"level": "low"}}\n',
  'shared/deep/kept.yaml':
    'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: kept, annotations: {configmanagement.gke.io/managed: disabled}}\n',
  'shared/README.md': 'Shared.\n',
  'shop/kustomization.yaml': 'resources:\n- web.yaml\nnamePrefix: prod-\n',
  'shop/web.yaml':
    'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: web}\ndata:\n  color: blue # of the day\n',
}

const HIERARCHY = {
  'root/system/repo.yaml':
    'apiVersion: configmanagement.gke.io/v1\nkind: Repo\nmetadata: {name: repo}\nspec: {version: 1.0.0}\n',
  'root/namespaces/eng/limits.yaml':
    'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: limits}\ndata:\n  cpu: "4" # cores\n',
  'root/namespaces/eng/dev/namespace.yaml':
    'apiVersion: v1\nkind: Namespace\nmetadata: {name: dev}\n',
  'root/namespaces/eng/prod/namespace.yaml':
    'apiVersion: v1\nkind: Namespace\nmetadata: {name: prod}\n',
}

/** With what Config Sync makes of the files: a copy in each namespace, and how deep each namespace is. */
function hierarchical(): ConfigSyncWorld {
  const root = ROOT.replace('  sourceFormat: unstructured\n', '').replace('/shared', 'root')
  const world = new ConfigSyncWorld(HIERARCHY, [root])
  for (const name of ['dev', 'prod']) {
    world.cluster.put(live(name, 'limits', '{cpu: "4"}'))
    const labels = `{eng.tree.hnc.x-k8s.io/depth: "1", ${name}.tree.hnc.x-k8s.io/depth: "0"}`
    world.cluster.put(
      appliedBy(
        'configsync.gke.io',
        yaml(`apiVersion: v1\nkind: Namespace\nmetadata: {name: ${name}, labels: ${labels}}\n`),
      ),
    )
  }
  return world
}

function live(namespace: string, name: string, data: string, annotation = '') {
  const text = `apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: ${name}\n  namespace: ${namespace}\n  annotations:\n${annotation}    configmanagement.gke.io/managed: enabled\n    configsync.gke.io/resource-id: _configmap_${namespace}_${name}\n    configsync.gke.io/manager: ${namespace === 'shop' ? 'shop' : ':root'}\ndata: ${data}\n`
  return appliedBy('configsync.gke.io', yaml(text))
}

class ConfigSyncWorld extends TurnWorld {
  constructor(
    files: { readonly [path: string]: string } = {},
    syncs: readonly string[] = [ROOT, SHOP],
  ) {
    super('{mode: Propose}', { ...FILES, ...files })
    this.repository.commitByHand('main', {
      'apps/web/Kptfile': null,
      'apps/web/deployment.yaml': null,
      'apps/web/config.yaml': null,
    })
    for (const object of [
      live('default', 'quota', '{cpu: "4"}'),
      live('ops', 'audit', '{level: low}'),
      live('shop', 'prod-web', '{color: blue}'),
    ])
      this.cluster.put(object)
    for (const object of syncs) this.cluster.put(yaml(object))
  }

  override sync(): void {}

  override request(more = {}) {
    return super.request({ renderer: RENDERER, ...more })
  }

  async states(): Promise<{ readonly [unit: string]: readonly [string | undefined, string] }> {
    const { units } = await this.scan()
    return Object.fromEntries(
      units.map((unit) =>
        unit.state === 'failed'
          ? [unit.packagePath, [unit.failures[0]?.code, unit.failures[0]?.why ?? '']]
          : [
              unit.plan.report.spec.unit.package,
              [unit.plan.report.spec.unit.appliedBy, unit.plan.report.status.state],
            ],
      ),
    )
  }

  async adopted(unit: string): Promise<{ readonly [path: string]: string | undefined }> {
    const { branch } = await this.plan({
      packages: [unit],
      resolutionRequest: { resolution: 'Adopt', selectors: [], message: undefined },
    })
    const changed = this.repository
      .paths(branch)
      .filter((path) => this.repository.text(branch, path) !== this.repository.text('main', path))
    return Object.fromEntries(
      changed
        .filter((path) => !path.startsWith('.drift/'))
        .map((path) => [path, this.repository.text(branch, path)]),
    )
  }
}

describe('a unit that Config Sync applies', { skip: whyNoKubectl() }, () => {
  test("is in sync when live equals Config Sync's output, for a plain folder and a kustomization", async () => {
    assert.deepEqual(await new ConfigSyncWorld().states(), {
      shared: ['Config Sync RootSync config-management-system/root-sync', 'InSync'],
      shop: ['Config Sync RepoSync shop/repo-sync', 'InSync'],
    })
  })

  test('shows drift at its line and adopts it there', async () => {
    const world = new ConfigSyncWorld()
    world.edit('/ConfigMap/default/quota', 'data.cpu', '8')
    world.edit('/ConfigMap/shop/prod-web', 'data.color', 'red')
    const { report } = await world.plan({ packages: ['shared'] })
    assert.deepEqual(
      report.spec.changes.map(({ path, git, live: now, source }) => [path, git, now, source]),
      [['data.cpu', '4', '8', 'shared/quota.yaml:1']],
    )
    assert.deepEqual(await world.adopted('shared'), {
      'shared/quota.yaml': FILES['shared/quota.yaml'].replace('"4"', '"8"'),
    })
    assert.deepEqual(await world.adopted('shop'), {
      'shop/web.yaml': FILES['shop/web.yaml'].replace('blue', 'red'),
    })
  })

  test('in the hierarchical format a namespace has the objects of the folders above it', async () => {
    const world = hierarchical()
    assert.deepEqual(await world.states(), {
      root: ['Config Sync RootSync config-management-system/root-sync', 'InSync'],
    })
    world.edit('/ConfigMap/dev/limits', 'data.cpu', '8')
    const { report } = await world.plan({ packages: ['root'] })
    assert.deepEqual(
      report.spec.changes.map(({ path, live: now, source }) => [path, now, source]),
      [['data.cpu', '8', 'root/namespaces/eng/limits.yaml:1']],
    )
    // The file is of two namespaces, and live differs in one of them.
    await assert.rejects(
      world.adopted('root'),
      /an edit there would also change data\.cpu of ConfigMap prod\/limits/,
    )
    world.edit('/ConfigMap/prod/limits', 'data.cpu', '8')
    assert.deepEqual(await world.adopted('root'), {
      'root/namespaces/eng/limits.yaml': HIERARCHY['root/namespaces/eng/limits.yaml'].replace(
        '"4"',
        '"8"',
      ),
    })
  })

  test('takes the cluster name for selectors from the ConfigManagement', async () => {
    const named = `apiVersion: configmanagement.gke.io/v1\nkind: ConfigManagement\nmetadata: {name: config-management}\nspec: {clusterName: east}\n`
    const other =
      'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: west, annotations: {configsync.gke.io/cluster-name-selector: west}}\n'
    const quota = FILES['shared/quota.yaml'].replace(
      '{name: quota}',
      '{name: quota, annotations: {configsync.gke.io/cluster-name-selector: east}}',
    )
    const world = new ConfigSyncWorld({ 'shared/quota.yaml': quota, 'shared/west.yaml': other }, [
      ROOT,
      SHOP,
      named,
    ])
    world.cluster.put(
      live('default', 'quota', '{cpu: "8"}', '    configsync.gke.io/cluster-name-selector: east\n'),
    )
    const { report } = await world.plan({ packages: ['shared'] })
    assert.deepEqual(
      report.spec.changes.map(({ ref, path }) => [ref.name, path]),
      [['quota', 'data.cpu']],
    )
  })

  test('compares a pinned revision with a note on what must move, and ignores another branch', async () => {
    const { view } = await new ConfigSyncWorld({}, [
      SHOP.replace('revision: main', 'revision: v1'),
    ]).scan()
    assert.match(
      view.problems.map(({ text }) => text).join(),
      /applies the revision v1: a merge is applied once spec\.git\.revision of it moves/,
    )
    const byFullName = await new ConfigSyncWorld({}, [
      SHOP.replace('revision: main', 'revision: refs/heads/main'),
    ]).scan()
    assert.deepEqual(byFullName.view.problems, [])
    await assert.rejects(
      new ConfigSyncWorld({}, [ROOT.replace('branch: main, ', '')]).plan(),
      /there is no package in the repository/,
    )
  })

  test('rejects cluster-selecting objects and objects outside the RepoSync namespace, with the reason', async () => {
    const selecting = FILES['shared/quota.yaml'].replace(
      '{name: quota}',
      '{name: quota, annotations: {configsync.gke.io/cluster-name-selector: a}}',
    )
    const elsewhere = FILES['shop/web.yaml'].replace('{name: web}', '{name: web, namespace: other}')
    const states = await new ConfigSyncWorld({
      'shared/quota.yaml': selecting,
      'shop/web.yaml': elsewhere,
    }).states()
    assert.match(
      states['shared']?.join(' ') ?? '',
      /BP1210 .*has configsync\.gke\.io\/cluster-name-selector/,
    )
    assert.match(
      states['shop']?.join(' ') ?? '',
      /BP1210 .*is in another namespace than the RepoSync/,
    )
  })

  test('is not created for a folder with only kpt packages', async () => {
    const package_ = {
      'shop/Kptfile': 'apiVersion: kpt.dev/v1\nkind: Kptfile\nmetadata: {name: shop}\n',
      'shop/kustomization.yaml': '',
    }
    const root = ROOT.replace('dir: /shared', 'dir: /')
    const world = new ConfigSyncWorld(package_, [root])
    world.repository.commitByHand(
      'main',
      Object.fromEntries(
        Object.keys(FILES).map((path) => [
          path,
          path.startsWith('shared') ? null : FILES['shop/web.yaml'],
        ]),
      ),
    )
    assert.deepEqual(Object.keys(await world.states()), ['shop'])
  })
})
