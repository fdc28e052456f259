/** A release of the chart `storefront` in a cluster in memory, as Helm installs it. */
import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { getPartAt, isJsonObject, type JsonObject } from '@backporch/kyaml/json'
import { parseGoYaml } from '@backporch/kyaml/read-yaml'
import { getResourceKey, readResource } from '@backporch/kyaml/resource'
import { addPackageBuilds, PackageBuilds } from '../../src/adapters/functions/package-builds.ts'
import type { PackageBuilder } from '../../src/sources/programs/package-builder.ts'
import { InProcessRenderer } from '../fakes/in-process-renderer.ts'
import { appliedBy, withMetadata } from '../fakes/live-object.ts'
import { TurnWorld } from '../fakes/turn-world.ts'

export type Files = Readonly<Record<string, string>>

export const UNIT = 'charts/storefront'
export const VALUES = 'releases/production.yaml'
const MARKS = { 'meta.helm.sh/release-name': 'shop', 'meta.helm.sh/release-namespace': 'shop' }
const HERE = fileURLToPath(new URL('.', import.meta.url))

/** The chart and the values of its release, by path in the repository. */
export function storefrontFiles(): Files {
  const chart = join(HERE, 'storefront')
  const paths = readdirSync(chart, { recursive: true, withFileTypes: true }).filter((entry) =>
    entry.isFile(),
  )
  const files = paths.map((entry) => join(entry.parentPath, entry.name))
  return {
    ...Object.fromEntries(
      files.map((path) => [`${UNIT}${path.slice(chart.length)}`, readFileSync(path, 'utf8')]),
    ),
    [VALUES]: readFileSync(join(HERE, 'production.yaml'), 'utf8'),
  }
}

export function storefrontPolicy(namespace: string): string {
  return `apiVersion: backporch.dev/v1alpha1
kind: DriftPolicy
metadata: {name: storefront}
spec:
  match: {packages: [${UNIT}]}
  render:
    tool: helm
    release: shop
    namespace: ${namespace}
    values: [../../${VALUES}]
`
}

export function storefrontPlacement(): string {
  return `apiVersion: backporch.dev/v1alpha1
kind: Placement
metadata: {name: storefront}
spec: {clusters: ["*"], paths: [${UNIT}]}
`
}

/** What `helm template` prints of the files, by the key of each object. */
export function templated(helm: string, files: Files): ReadonlyMap<string, JsonObject> {
  const folder = mkdtempSync(join(tmpdir(), 'backporch-storefront-'))
  try {
    for (const [path, text] of Object.entries(files)) {
      mkdirSync(dirname(join(folder, path)), { recursive: true })
      writeFileSync(join(folder, path), text)
    }
    const words = [
      'template',
      'shop',
      `./${UNIT}`,
      '--namespace',
      'shop',
      '--values',
      VALUES,
      '--include-crds',
      '--kube-version',
      '1.34.3',
    ]
    const text = execFileSync(helm, words, { cwd: folder, encoding: 'utf8', maxBuffer: 1 << 26 })
    const objects = parseGoYaml(text, 'helm').documents.flatMap(({ value }) =>
      isJsonObject(value) ? [value] : [],
    )
    return new Map(objects.map((object) => [keyOf(object), object]))
  } finally {
    rmSync(folder, { recursive: true })
  }
}

function keyOf(object: JsonObject): string {
  const read = readResource(object)
  if ('problem' in read) throw new TypeError(read.problem)
  return getResourceKey({ ...read.id, namespace: '' })
}

export class StorefrontWorld extends TurnWorld {
  /** Runs of Helm that were not known yet. */
  builds = 0
  readonly files: Files
  private readonly builder: PackageBuilder

  constructor(helm: string, more: Files = {}) {
    const files = { ...storefrontFiles(), ...more }
    super('{mode: Propose}', {
      ...files,
      '.drift/storefront.yaml': storefrontPolicy('shop'),
      '.drift/placement.yaml': storefrontPlacement(),
    })
    this.files = files
    this.repository.commitByHand('main', {
      'apps/web/Kptfile': null,
      'apps/web/deployment.yaml': null,
      'apps/web/config.yaml': null,
    })
    const builds = new PackageBuilds({ allowed: [helm], environment: process.env })
    const known = new Set<string>()
    this.builder = {
      library: builds.library,
      build: async (build, signal) => {
        const answer = await builds.build(build, signal)
        const key = JSON.stringify(build)
        if (!known.has(key)) this.builds += 1
        known.add(key)
        return answer
      },
    }
    for (const object of templated(helm, files).values()) {
      const isHook = JSON.stringify(object['metadata']).includes('helm.sh/hook')
      if (isHook) continue
      // As Helm marks what it installs. The cluster of these tests knows no kind without a namespace.
      const annotations = {
        ...(getPartAt(object, 'metadata', 'annotations') as JsonObject | undefined),
        ...MARKS,
      }
      const labels = {
        ...(getPartAt(object, 'metadata', 'labels') as JsonObject | undefined),
        'app.kubernetes.io/managed-by': 'Helm',
      }
      this.cluster.put(
        appliedBy('helm', withMetadata(object, { namespace: 'shop', annotations, labels })),
      )
    }
  }

  override sync(): void {}

  override request(more = {}) {
    return super.request({
      renderer: addPackageBuilds(new InProcessRenderer(), this.builder),
      ...more,
    })
  }

  /** Adopts what differs. @returns the files that change, with the text of each */
  async adopted(): Promise<ReadonlyMap<string, string>> {
    this.builds = 0
    const { branch } = await this.plan({
      packages: [UNIT],
      resolutionRequest: { resolution: 'Adopt', selectors: [], message: undefined },
    })
    const paths = [...new Set([...this.repository.paths(branch), ...this.repository.paths('main')])]
    const changed = paths.filter(
      (path) =>
        !path.startsWith('.drift/') &&
        this.repository.text(branch, path) !== this.repository.text('main', path),
    )
    return new Map(changed.map((path) => [path, this.repository.text(branch, path) ?? '']))
  }
}

/** Lines that only one of two texts has, as `diff` prints them: the longest common lines stay. */
export function changedLines(before: string, after: string): readonly string[] {
  const [one, other] = [before.split('\n'), after.split('\n')]
  let [first, last] = [0, 0]
  while (first < one.length && one[first] === other[first]) first += 1
  while (
    last < Math.min(one.length, other.length) - first &&
    one.at(-1 - last) === other.at(-1 - last)
  )
    last += 1
  return [
    ...one.slice(first, one.length - last).map((line) => `-${line}`),
    ...other.slice(first, other.length - last).map((line) => `+${line}`),
  ]
}
