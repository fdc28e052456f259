import { Failure } from '@backporch/kyaml/failure'
import type { PackageFile } from '@backporch/kyaml/files'
import { decodeYaml, parseGoYaml } from '@backporch/kyaml/read-yaml'
import { readResource } from '@backporch/kyaml/resource'
import { cleanPath } from './clean-path.ts'
import type { Kptfile, PipelineFunction } from './kptfile-value.ts'
import { PACKAGE_FILE } from './walk-package.ts'

/** Within the outermost package. */
interface ConfigSources {
  readonly files: ReadonlyMap<string, PackageFile>
  /** From the root of the repository. */
  resolveLocation(path: string): string
  listOwnFiles(folder: string): ReadonlySet<string>
}

/**
 * BP1104 for an absent file, a link, not exactly one document, or no Kubernetes object.
 * @param folder '' for the package itself
 */
export function checkFunctionConfigs(
  kptfile: Kptfile,
  folder: string,
  sources: ConfigSources,
): readonly Failure[] {
  const prefix = folder === '' ? '' : `${folder}/`
  const failures: Failure[] = []
  for (const each of [...kptfile.pipeline.mutators, ...kptfile.pipeline.validators]) {
    if (each.configPath === undefined) continue
    const path = prefix + cleanPath(each.configPath)
    const own = sources.listOwnFiles(folder)
    const problem =
      findConfigProblem(sources.files.get(path), sources.resolveLocation(path), own) ??
      (own.has(path) ? undefined : NOT_READ)
    if (problem !== undefined)
      failures.push(
        createBadConfigFailure(
          each,
          `${sources.resolveLocation(prefix + PACKAGE_FILE)}:${each.line}`,
          problem,
        ),
      )
  }
  return failures
}

const NOT_READ =
  'kpt does not read the file as part of the package: it is ignored by .krmignore, in a subpackage, or not named .yaml, .yml or .json'

function findConfigProblem(
  file: PackageFile | undefined,
  where: string,
  own: ReadonlySet<string>,
): string | undefined {
  if (file === undefined) return 'the file is not in the package'
  if (file.mode === '120000' || file.mode === '160000')
    return 'the file is a link, which may leave the package'
  // They cannot be manifests.
  if (file.content.length === 0 && !own.has(file.path)) return NOT_READ
  try {
    const { documents } = parseGoYaml(decodeYaml(file.content, where), where)
    const [only] = documents
    if (only === undefined || documents.length > 1)
      return `the file has ${documents.length} documents, wanted one`
    const resource = readResource(only.value)
    return 'problem' in resource
      ? `the file is not a Kubernetes object: ${resource.problem}`
      : undefined
  } catch (thrown) {
    if (thrown instanceof Failure) return 'the file is not valid YAML'
    throw thrown
  }
}

function createBadConfigFailure(each: PipelineFunction, where: string, problem: string): Failure {
  return new Failure({
    code: 'BP1104',
    what: 'a function of the pipeline is not valid',
    where,
    why: `configPath ${JSON.stringify(each.configPath?.slice(0, 80))}: ${problem}`,
    remedy: 'name a file of the package with one Kubernetes object in it',
    retry: 'on-change',
  })
}
