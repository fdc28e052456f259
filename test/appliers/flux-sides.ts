/** A Flux Kustomization as Backporch builds it and as Flux does, to compare. */
import { Failure } from '@backporch/kyaml/failure'
import { formatCanonicalJson, type Json, type JsonObject, parseJson } from '@backporch/kyaml/json'
import { PackageBuilds } from '../../src/adapters/functions/package-builds.ts'
import { createBuild, parsePrintedResources } from '../../src/sources/build/read-built.ts'
import { FLUX_BUILDER } from '../../src/sources/flux/flux-kustomization.ts'
import { KUSTOMIZE_TOOL } from '../../src/sources/kustomize/kustomize-tool.ts'
import type { FileTexts, FluxOracle, Variables } from './flux-oracle.ts'

export interface FluxCase {
  readonly files: FileTexts
  /** Of the Kustomization. Its path is `./app` by default. */
  readonly spec?: JsonObject
  /** Data of every ConfigMap and Secret that it names. */
  readonly variables?: Variables
}

/** Objects in the order of their texts, with sorted keys; or why there are none. */
export type BuiltSide = { readonly objects: readonly Json[] } | { readonly error: string }

export class FluxSides {
  private readonly oracle: FluxOracle
  private readonly builds = new PackageBuilds({ allowed: ['kubectl'], environment: process.env })

  constructor(oracle: FluxOracle) {
    this.oracle = oracle
  }

  async theirs({ files, spec, variables = {} }: FluxCase): Promise<BuiltSide> {
    const answer = await this.oracle.ask({
      ask: 'build',
      files,
      object: kustomization(spec),
      variables,
    })
    return answer.error === undefined ? sorted(answer.objects ?? []) : { error: answer.error }
  }

  async ours({ files, spec, variables = {} }: FluxCase): Promise<BuiltSide> {
    const object = kustomization(spec)
    const folder = typeof spec?.['path'] === 'string' ? spec['path'].replace(/^\.\/?/, '') : 'app'
    const authored = Object.entries(files).map(
      ([path, text]) =>
        [path, { path, mode: '100644', content: new TextEncoder().encode(text) }] as const,
    )
    const synced = {
      title: 'Flux',
      folder,
      object,
      variables: new Map(Object.entries(variables)),
      builder: FLUX_BUILDER,
    }
    const source = {
      packagePath: folder,
      package: [],
      tool: KUSTOMIZE_TOOL,
      folder,
      files: new Map(authored),
      command: [],
      synced,
    } as const
    try {
      const build = createBuild(source)
      const answer =
        'tool' in build ? await this.builds.build(build, new AbortController().signal) : build
      if ('failure' in answer) throw new Failure(answer.failure)
      return sorted(parsePrintedResources(source, answer.text).map((resource) => resource.object))
    } catch (thrown) {
      if (thrown instanceof Failure) return { error: thrown.message }
      throw thrown
    }
  }
}

function kustomization(spec: JsonObject = {}): JsonObject {
  return {
    apiVersion: 'kustomize.toolkit.fluxcd.io/v1',
    kind: 'Kustomization',
    metadata: { name: 'app', namespace: 'flux-system' },
    spec: {
      path: './app',
      interval: '1m',
      prune: true,
      sourceRef: { kind: 'GitRepository', name: 'app' },
      ...spec,
    },
  }
}

function sorted(objects: readonly Json[]): BuiltSide {
  return {
    objects: objects
      .map((object) => formatCanonicalJson(object))
      .sort()
      .map((text) => parseJson(text)),
  }
}
