/** With which code we refuse what kpt refuses, so that both refuse a case for the same reason. By the name of the case. */

const BY_CODE: { readonly [code: string]: readonly string[] } = {
  /** There is no Kptfile. */
  BP1004: ['refused-no-kptfile'],
  /** The Kptfile is of another version. */
  BP1101: ['refused-kptfile-old'],
  /** A field that kpt does not know. */
  BP1103: [
    'refused-kptfile-unknown-field',
    'refused-kptfile-unknown-field-of-a-function',
    'refused-kptfile-of-a-child',
  ],
  /** A function of the pipeline is not valid. */
  BP1104: [
    'config-ignored-file',
    'refused-config-missing',
    'refused-config-of-the-child',
    'refused-config-outside',
    'refused-config-outside-by-a-detour',
    'refused-config-absolute',
    'refused-config-two-documents',
    'refused-config-no-resource',
    'refused-image-and-exec',
    'refused-neither-image-nor-exec',
    'refused-config-map-and-path',
    'refused-config-map-nested',
  ],
  /** The YAML is not valid. */
  BP1110: [
    'formatting-null-keys',
    'scalars-without-a-form-in-json',
    'scalars-unknown-tags',
    'files-separators',
    'refused-yaml-broken',
    'refused-yaml-tab',
    'refused-yaml-alias',
    'refused-yaml-second-document',
    'refused-separator',
    'refused-directive',
  ],
  /** A document is not a Kubernetes object. */
  BP1112: [
    'refused-no-api-version',
    'refused-no-kind',
    'refused-no-name',
    'refused-list-kind',
    'refused-bare-list',
    'refused-text',
    'refused-no-resource-without-a-pipeline',
    'refused-no-resource-in-a-child',
  ],
  /** A program that the operator did not allow. */
  BP1206: ['refused-function-not-found'],
  /** The function failed. */
  BP1202: [
    'check-fails',
    'check-fails-in-a-child',
    'check-kubeconform-fails',
    'refused-function-fails',
    'refused-function-without-its-config',
    'refused-function-with-a-bad-config',
    'refused-labels-null',
    'refused-second-function-fails',
    'refused-setter-without-a-value',
    'attribution-not-after-a-failure',
  ],
  /** What goes into or comes out of a function is not a package. */
  BP1204: [
    'place-everything-deleted',
    'check-moves-outside',
    'refused-same-place',
    'refused-same-place-twice-new',
    'refused-same-place-by-annotation',
    'refused-same-place-seen-by-the-next',
    'refused-outside-the-package',
    'refused-outside-the-package-cleaned',
    'refused-outside-the-child',
    'refused-path-is-the-folder-above',
    'refused-path-is-a-folder',
    'refused-both-paths-differ',
    'refused-output-no-resource',
  ],
}

export const REFUSAL_CODES: ReadonlyMap<string, string> = new Map(
  Object.entries(BY_CODE).flatMap(([code, names]) =>
    names.map((name): [string, string] => [name, code]),
  ),
)
