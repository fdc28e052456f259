import type { NoteCause } from '@backporch/kyaml/note'

/** The one thing to do, or why nothing is to be done. */
export const NOTE_GUIDE: { readonly [cause in NoteCause]: string } = {
  'adoption-not-checked':
    'apply the branch with kubectl apply --dry-run=server before the merge; with the right to patch (dry runs only) backporch checks it',
  'annotation-not-valid':
    'correct the annotation in git: until then it hides nothing and the difference is drift',
  'annotation-overruled': 'remove the annotation, or ask the owner of the enforced policy',
  'audit-log-not-read':
    'give the whole log with --audit-log; without it, only field managers are named',
  'branch-left-alone': 'merge or delete the branch by hand, then scan again',
  'cache-not-used':
    'free space, or name a folder that can be written in XDG_CACHE_HOME: each start reads the repository again until then',
  'claimed-by-inventory':
    'nothing, if the objects belong to another package; otherwise add them to git, or take them out of the inventory',
  'cluster-not-observed':
    'run backporch check, which shows what connection or rights are missing; the next scan that reads it ends this',
  'commit-compared': 'commit the changes: commits are compared and edited, not the work tree',
  'condition-copied':
    'remove the condition from the Kptfile of the copy, or leave it: the next proposal of the package replaces it',
  'config-applied':
    'annotate the config with config.kubernetes.io/local-config: "true", if only functions read it: then it is not an object of the cluster',
  decision:
    'nothing: the decision was found in git and is recorded in the ledger (backporch history)',
  'events-not-written':
    'give the account the rule that the note names, or remove --kubernetes-events; drift is recorded in git in any case',
  'field-not-on-server':
    'correct the name of the field in git, or install the version of the kind that has it: the server drops or refuses it',
  'file-not-read':
    'nothing, if the file is not a manifest; otherwise correct the problem, because its objects are not compared',
  'follows-another-branch':
    'compare with the branch that the syncer uses: --branch, or name the other cluster with --cluster',
  'forge-notice':
    'read what the note says: a token, or --forge, is missing or ignored, and only reviews depend on it',
  'folder-not-listed':
    'nothing: backporch status has its drift; add a Kptfile if Porch should list it (kpt pkg init)',
  'function-identity':
    'nothing, if the function is meant to rename objects; otherwise check its configuration in the Kptfile',
  'function-release':
    'name the release of the function that runs here in the Kptfile, or allow the image (docs/guides/functions.md)',
  'function-result': 'read what the function says: it is a result, not a failure of the pipeline',
  'head-not-base':
    'name the base branch with --branch, or correct the default branch of the repository; in a clone, switch to the base branch',
  'helm-release-not-read':
    'allow reading the Secrets or ConfigMaps of Helm in that namespace, so that its stored manifest counts as the last apply',
  'installation-key':
    'keep it, and give the same key as BACKPORCH_KEY to every other machine that scans this repository',
  'inventory-twice':
    'keep one inventory in the package: the Kptfile, or a ResourceGroup in a file of its own',
  'ledger-not-here':
    'fetch the ledger as the note says: until then earlier scans and decisions are unknown',
  'ledger-not-read':
    'correct or delete the file on the branch drift-ledger; a scan writes a new report',
  'looked-at-long-ago':
    'run backporch scan, and check why the scheduled scan does not run; set detect.interval of the policy to how often you scan',
  'name-from-server':
    'give the object a name: an object that the server names is a new one with every apply, and is not compared',
  'not-in-yaml-diff': 'run backporch diff without --yaml, which shows it',
  'newer-is-known':
    'nothing: a later observation is already recorded; scan again for the current state',
  'not-observed': 'run backporch explain PACKAGE, which says why the object could not be compared',
  'observed-in-future': 'correct the clock of the machine that scanned then; its time is replaced',
  'package-is-repository':
    'nothing for backporch; for Porch, move the package into a folder, or register a folder that has packages below it (--directory)',
  'package-not-observed': 'correct the package or the rights on the cluster, then scan again',
  'planned-as-restore':
    'choose another resolution for the lines that can have one, or edit the file by hand',
  'policy-not-used':
    'correct the named line on the base branch (backporch check lists every problem); until then an earlier policy decides, and nothing is opened, merged or settled',
  'porch-cannot-list':
    'delete or rename the branch: every branch below drafts/ or proposed/ needs a package path and a workspace',
  'porch-name-not-label':
    'rename the folder or the workspace to lower-case letters, digits and -, where Porch is used',
  'porch-name-twice': 'rename one of the two folders or branches, where Porch is used',
  'porch-skips-branch':
    'delete the branch, or add the Kptfile at the path that its name has; a package without a path has no revisions in Porch',
  'porch-tag-not-number':
    'nothing, if Porch is not used; otherwise delete the tag, or name it PACKAGE/vN',
  'porch-tag-not-read': 'nothing, if the tag names no commit; otherwise fetch it: git fetch --tags',
  'preview-not-written':
    'give the account the right to comment on pull requests, correct what the note names, or remove --preview',
  'record-not-read':
    'correct the record, or delete it with its branch; a scan records the drift again',
  'manifest-not-proven':
    'review the manifest; with the right to patch and create (dry runs only) it is proven, and defaults are left out',
  'report-not-written':
    'see why GITHUB_STEP_SUMMARY cannot be written; stdout has the annotations anyway',
  'rule-hides-nothing': 'remove the rule from the policy, or correct its target',
  'shared-source':
    'nothing, if only this unit is to change; with --via=everywhere the edit is made where all of them have the value',
  'secret-in-git':
    'encrypt the values with SOPS, or create the Secret in the cluster from a secret store, and change the values: git keeps the old ones',
  'status-not-written':
    'give the account the right to write commit statuses; without it, do not make drift/fresh a required check',
  silenced:
    'nothing until the time that the note says; restore, adopt or release it to decide otherwise',
  'validator-not-run':
    'nothing, if kpt fn render runs before a package is published; otherwise allow the image or program of the validator (docs/guides/functions.md)',
  'waits-for-apply':
    'apply the package, or wait for the syncer; remove by hand what no apply removes; then backporch scan checks that the cluster agrees',
  withdrawn: 'nothing: the cluster or git changed, and there is nothing left to decide',
  'yaml-duplicate-key': 'keep one of the two keys: tools differ in which one counts',
  'yaml-key': 'quote the key in git, so that every tool reads the same text',
  'yaml-precision': 'quote the number, or write one that a double holds: kubectl rounds it',
  'source-not-compared':
    'read why; a policy or a placement can name the folder and how it is rendered',
  'traces-not-sent': 'check OTEL_EXPORTER_OTLP_ENDPOINT and the collector: turns go on without it',
  'value-not-decrypted':
    'give sops the age key in SOPS_AGE_KEY_FILE, or read why it refuses the file; until then the writer of a value decides',
  'verdicts-not-read': 'do nothing: everything is compared again',
  'yaml-value': 'quote the value where it is text, so that kubectl and kpt read the same',
}
