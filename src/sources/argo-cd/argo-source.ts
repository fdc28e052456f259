/**
 * Resolves the source of an Application with the override files in the folder and the variables of
 * the build environment (argo-cd 3.2.0 `reposerver/repository/repository.go` mergeSourceParameters
 * and newEnv, `docs/user-guide/build-environment.md`).
 */
import { Failure } from '@backporch/kyaml/failure'
import {
  getPartAt,
  getTextAt,
  isJsonObject,
  type Json,
  type JsonObject,
} from '@backporch/kyaml/json'
import { readYamlNodes } from '@backporch/kyaml/read-yaml'
import { convertYamlToJson } from '@backporch/kyaml/yaml'
import { joinFolderPath } from '../kustomize/files/kustomization-walk.ts'
import {
  type SourceFiles,
  readSourceText as textOfFile,
} from '../kustomize/files/kustomize-build.ts'
import { applyOverrides, overrideProblem } from './argo-overrides.ts'
import { type ArgoTool, listArgoTools, normalizeArgoSource } from './argo-tools.ts'

export interface ArgoSource {
  readonly at: readonly (string | number)[]
  /** Outside of Argo CD's own namespace `<namespace>_<name>`. */
  readonly instance: string
}

export function overrideNames({ instance }: ArgoSource): readonly string[] {
  return ['.argocd-source.yaml', `.argocd-source-${instance}.yaml`]
}

/**
 * @param of `tool`: the tool that reads the source
 * @throws Failure BP1110 or BP1111 for an override, BP1210 if Argo CD fails or detects another type
 * for the folder
 */
export function resolveArgoSource(
  of: ArgoSource & { readonly tool: ArgoTool },
  object: JsonObject,
  folder: string,
  files: SourceFiles,
): JsonObject {
  let source = normalizeArgoSource(getArgoSource(object, of.at), of.at)
  for (const name of overrideNames(of)) {
    const file = files.get(joinFolderPath(folder, name))
    if (file === undefined) continue
    if (file.mode === '120000')
      throw createArgoRefusal(source, `${name} is a symbolic link, which is not followed here`)
    const [root] = readYamlNodes(textOfFile(file.path, files).replaceAll('\r\n', '\n'), file.path)
    const patch = root === undefined ? null : convertYamlToJson(root)
    if (!isJsonObject(patch))
      throw createArgoRefusal(source, `${name} is not a map, which Argo CD refuses`)
    const problem = overrideProblem(patch)
    if (problem !== undefined) throw createArgoRefusal(source, `${name}: ${problem}`)
    source = applyOverrides(source, patch)
  }
  const tools = listArgoTools(source)
  if (tools.length > 1)
    throw createArgoRefusal(
      source,
      `it has options of several tools (${tools.join(', ')}), which Argo CD refuses`,
    )
  const [only = of.tool] = tools
  if (only !== of.tool)
    throw createArgoRefusal(
      source,
      `an override in the folder makes it a source of ${only}, and that is not followed here`,
    )
  return source
}

export function getArgoSource(object: JsonObject, at: ArgoSource['at']): JsonObject {
  const found = at.reduce<Json | undefined>(
    (value, step) =>
      typeof step === 'number'
        ? Array.isArray(value)
          ? value[step]
          : undefined
        : getPartAt(value, step),
    getPartAt(object, 'spec'),
  )
  return isJsonObject(found) ? found : {}
}

/**
 * An unset variable is empty, `$$` is `$`, and an unclosed `${` is dropped.
 * @throws Failure BP1210 if the text uses the commit, on which a build must not depend
 */
export function substituteEnvironment(
  text: string,
  { instance }: ArgoSource,
  object: JsonObject,
  source: JsonObject,
): string {
  const values = new Map([
    ['ARGOCD_APP_NAME', instance],
    ['ARGOCD_APP_NAMESPACE', getTextAt(object, 'spec', 'destination', 'namespace')],
    ['ARGOCD_APP_PROJECT_NAME', getTextAt(object, 'spec', 'project') || 'default'],
    ['ARGOCD_APP_SOURCE_REPO_URL', getTextAt(source, 'repoURL')],
    ['ARGOCD_APP_SOURCE_PATH', getTextAt(source, 'path')],
    ['ARGOCD_APP_SOURCE_TARGET_REVISION', getTextAt(source, 'targetRevision')],
    ['$', '$'],
  ])
  return text.replace(
    /\$(?:\{([^}]*)\}|\{|([A-Za-z_]\w*)|([$*#@!?0-9-]))/g,
    (_, braced?: string, plain?: string, special?: string) => {
      const name = braced ?? plain ?? special ?? ''
      if (name.startsWith('ARGOCD_APP_REVISION'))
        throw createArgoRefusal(
          source,
          `${text} contains the commit, so each commit changes the value`,
        )
      return values.get(name) ?? ''
    },
  )
}

export function createArgoRefusal(source: JsonObject, why: string): Failure {
  return new Failure({
    code: 'BP1210',
    what: 'the folder cannot be built as the Argo CD Application has it',
    where: getTextAt(source, 'path') || '.',
    why,
    remedy:
      'correct the source of the Application, or name another renderer of the folder in a policy (spec.render)',
    retry: 'on-change',
  })
}
