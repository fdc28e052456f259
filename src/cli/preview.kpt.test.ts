/** `preview` of units that `kubectl kustomize` builds. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { runInWorld } from '../../test/fakes/cli-world.ts'
import { InProcessRenderer } from '../../test/fakes/in-process-renderer.ts'
import { CHANGE, type SharedBase, setImage, sharedBase } from '../../test/fakes/shared-base.ts'
import { whyNoKubectl } from '../../test/kpt/find-kubectl.ts'
import { addPackageBuilds, PackageBuilds } from '../adapters/functions/package-builds.ts'
import type { Preview } from '../record/documents/preview.ts'
import type { PackageRenderer } from '../sources/kpt/render/package-renderer.ts'
import type { Build } from '../sources/programs/package-builder.ts'
import type { AllowedFunctions } from './context/cli-context.ts'

const ran: Build[] = []
/** What is built once is not built again by the next test. */
const KUBECTL = counted(new PackageBuilds({ allowed: ['kubectl'], environment: process.env }))

function counted(builds: PackageBuilds): PackageRenderer {
  const renderer = addPackageBuilds(new InProcessRenderer(), builds)
  return {
    attributed: renderer.attributed,
    library: renderer.library,
    render: (path, files, signal) => renderer.render(path, files, signal),
    fetch: (call, signal) => renderer.fetch(call, signal),
    builder: {
      library: builds.library,
      build: (build, signal) => {
        ran.push(build)
        return builds.build(build, signal)
      },
    },
  }
}

function openRenderer({ render = [] }: AllowedFunctions): PackageRenderer {
  if (render.includes('kubectl')) return KUBECTL
  return addPackageBuilds(
    new InProcessRenderer(),
    new PackageBuilds({ allowed: [], environment: process.env }),
  )
}

async function previewed({ world, open }: SharedBase, ...argv: readonly string[]) {
  const flags = ['--head', 'change', '--contexts', 'prod,staging', '--allow-render', 'kubectl']
  return runInWorld(world, ['preview', ...flags, ...argv], { openCluster: open, openRenderer })
}

async function documentOf(base: SharedBase, ...argv: readonly string[]): Promise<Preview> {
  const { stdout, stderr } = await previewed(base, '-o', 'json', ...argv)
  assert.notEqual(stdout, '', stderr)
  return JSON.parse(stdout) as Preview
}

function statesIn({ items }: Preview): readonly string[] {
  return items.map((unit) => `${unit.package} ${unit.cluster} ${unit.state}`)
}

describe('preview of a change of a shared base and a value', { skip: whyNoKubectl() }, () => {
  test('names the four changed units and the unchanged one, in each cluster', async () => {
    const found = await documentOf(sharedBase())
    assert.deepEqual(
      statesIn(found),
      ['prod', 'staging'].flatMap((cluster) => [
        `apps/one ${cluster} changes`,
        `apps/pinned ${cluster} same`,
        `apps/sized ${cluster} changes`,
        `apps/three ${cluster} changes`,
        `apps/two ${cluster} changes`,
      ]),
    )
    const [one] = found.items
    assert.deepEqual(one?.shared, ['bases/web/deployment.yaml'])
    assert.deepEqual(
      one?.changes.map(({ ref, path, before, after, risk, reason, live }) => [
        ref.namespace,
        path,
        before,
        after,
        risk,
        reason,
        live,
      ]),
      [
        [
          'one',
          'spec.template.spec.containers[name=app].image',
          'nginx:1.27',
          'nginx:1.28',
          'high',
          'APP-IMAGE',
          'before',
        ],
      ],
    )
    const sized = found.items.find((unit) => unit.package === 'apps/sized')
    assert.deepEqual(sized?.edited, ['apps/sized/setters.yaml'])
    assert.deepEqual(
      sized?.changes.map(({ path, before, after }) => [path, before, after]),
      [['data.size', '5', '7']],
    )
  })

  test('prints the changes for people and as a comment', async () => {
    const { code, stdout, stderr } = await previewed(sharedBase())
    assert.equal(code, 0, stderr)
    assert.match(
      stdout,
      /^merging change \([0-9a-f]{7}\) into main \([0-9a-f]{7}\) changes 8 objects of 8 units in 2 clusters\n/,
    )
    assert.match(
      stdout,
      /apps\/pinned in prod +reads bases\/web\/deployment\.yaml, and does not change\n/,
    )
    const comment = (await previewed(sharedBase(), '-o', 'markdown')).stdout
    assert.match(
      comment,
      /\*\*Merging changes 8 objects in 2 clusters\*\*: `apps\/one`, `apps\/sized`, `apps\/three` and `apps\/two`\. `apps\/pinned` reads an edited file, and does not change\./,
    )
    assert.match(
      comment,
      /\n- `apps\/pinned` in `prod`, `staging`: reads `bases\/web\/deployment\.yaml`\n/,
    )
  })

  test('shows in each cluster which changes are already live and which fields drifted', async () => {
    const base = sharedBase()
    for (const cluster of base.clusters.values())
      for (const unit of ['one', 'two', 'three']) setImage(cluster, unit, 'nginx:1.28')
    setImage(base.clusters.get('staging'), 'two', 'nginx:1.99')
    const found = await documentOf(base)
    const live = found.items.flatMap((unit) =>
      unit.changes.map((change) =>
        `${unit.package} ${unit.cluster} ${change.live} ${String(change.liveValue ?? '')}`.trim(),
      ),
    )
    assert.deepEqual(live, [
      'apps/one prod after',
      'apps/sized prod before',
      'apps/three prod after',
      'apps/two prod after',
      'apps/one staging after',
      'apps/sized staging before',
      'apps/three staging after',
      'apps/two staging other nginx:1.99',
    ])
    assert.match(
      (await previewed(base, '-o', 'markdown')).stdout,
      /\*\*Live today:\*\* 5 changes are live already; 1 change is about a field or object that drifted; 2 changes are not live yet\./,
    )
  })

  test('names the field when only that field is already live', async () => {
    const base = sharedBase()
    for (const cluster of base.clusters.values())
      for (const unit of ['one', 'two', 'three']) setImage(cluster, unit, 'nginx:1.28')
    assert.match(
      (await previewed(base, '-o', 'markdown')).stdout,
      /\*\*Live today:\*\* the image is live already; 2 changes are not live yet\./,
    )
  })

  test('builds nothing for a change outside every unit', async () => {
    const base = sharedBase({ 'README.md': 'words\n', 'other/a.yaml': 'a: b\n' })
    ran.length = 0
    const found = await documentOf(base)
    assert.deepEqual([found.items, found.untouched, ran], [[], 10, []])
    assert.match(
      (await previewed(base, '-o', 'markdown')).stdout,
      /\*\*Merging changes nothing in the clusters\*\*: no unit is built from the files that it edits\./,
    )
  })

  test('runs no program of a fork even if allowed, reads no cluster, and builds what needs none', async () => {
    const base = sharedBase()
    const contents = Buffer.from('nginx:1.28')
    ran.length = 0
    const found = await documentOf(base, '--fork')
    const head = ran.filter(({ files }) =>
      files.some(({ content }) => Buffer.from(content).includes(contents)),
    )
    assert.deepEqual(head, [], 'a build of the head ran')
    assert.deepEqual(
      found.items
        .filter(({ cluster }) => cluster === 'prod')
        .map((unit) => [unit.package, unit.state, unit.failures[0]?.code]),
      [
        ['apps/one', 'failed', 'BP1208'],
        ['apps/pinned', 'failed', 'BP1208'],
        ['apps/sized', 'changes', undefined],
        ['apps/three', 'failed', 'BP1208'],
        ['apps/two', 'failed', 'BP1208'],
      ],
    )
    assert.ok(found.items.every(({ changes }) => changes.every(({ live }) => live === 'unknown')))
    assert.ok(found.clusters.every(({ observedAt }) => observedAt === undefined))
    const { stdout } = await previewed(base, '--fork', '-o', 'markdown')
    assert.match(stdout, /\*\*From a fork:\*\* no program, image or module that it names was run/)
    assert.match(stdout, /review it, and push the commits to a branch of the repository/)
  })

  test('a unit that cannot be built is a line with code, place and remedy; others continue', async () => {
    const base = sharedBase({
      ...CHANGE,
      'apps/two/kustomization.yaml': 'namespace: two\nresources:\n- ../../bases/gone\n',
    })
    const { code, stdout } = await previewed(base, '-o', 'markdown')
    assert.equal(code, 2)
    assert.match(
      stdout,
      /\n- `apps\/two` in `prod`, `staging`, after the merge \(`BP1210`\) at `apps\/two\/kustomization\.yaml[^`]*`: .* To correct it: /,
    )
    assert.match(
      stdout,
      /Merging changes 6 objects in 2 clusters\*\*: `apps\/one`, `apps\/sized` and `apps\/three`\. .* 2 units could not be built\./,
    )
  })
})
