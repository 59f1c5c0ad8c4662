;;; emacs.el --- Emacs with the settings of the book  -*- lexical-binding: t; -*-

;; Visits door.md, lets Eglot start the server that the settings name, and does what a person would do.
;; Says how it went on standard error.

;;; Code:

;; As a start without `--batch' does, before the settings.
(package-activate-all)
(load (getenv "SETTINGS") nil t)
(require 'eglot)
(require 'xref)

(defun expect (is-so what)
  "Fail with WHAT unless IS-SO, which the script that started us looks for."
  (unless is-so
    (message "failed: %s" what)
    (kill-emacs 1)))

(defun wait-for (condition what)
  "Wait until the function CONDITION returns something, which is returned; else fail with WHAT."
  (let ((end (+ (float-time) 20)) found)
    (while (and (not (setq found (funcall condition))) (< (float-time) end))
      (accept-process-output nil 0.05))
    (expect found what)
    found))

(defun line (number)
  "Return the text of the line NUMBER, counted from zero."
  (save-excursion
    (goto-char (point-min))
    (forward-line number)
    (buffer-substring-no-properties (point) (line-end-position))))

(defun go-to (number text)
  "Go to the beginning of TEXT in the line NUMBER, counted from zero."
  (goto-char (point-min))
  (forward-line number)
  (search-forward text (line-end-position))
  (goto-char (match-beginning 0)))

(defun send-changes ()
  "Send what has changed, as Eglot does once nobody types: without a terminal Emacs is never idle."
  (eglot--signal-textDocument/didChange))

(setq eglot-confirm-server-initiated-edits nil
      ;; There is nobody to ask: what is offered first is chosen, as Return does.
      last-nonmenu-event ?\r
      completing-read-function
      (lambda (_prompt choices _predicate _match _initial _history default &rest _)
        (or default (caar choices))))

(find-file "door.md")
(expect (derived-mode-p 'markdown-mode) (format "the mode is %s" major-mode))
(call-interactively #'eglot)
(wait-for #'eglot-current-server "no client")
(expect (equal (plist-get (eglot--server-info (eglot-current-server)) :name) "statemark")
        "another server was started")

(let ((found (wait-for #'flymake-diagnostics "no finding came")))
  (expect (= (length found) 1) (format "%S" found))
  (expect (string-match-p "SM105" (flymake-diagnostic-text (car found)))
          (flymake-diagnostic-text (car found)))
  (expect (equal (buffer-substring-no-properties
                  (flymake-diagnostic-beg (car found)) (flymake-diagnostic-end (car found)))
                 "->")
          "the finding is about another text")
  ;; As `M-x eglot-code-actions' at the finding, for fixes alone.
  (goto-char (flymake-diagnostic-beg (car found)))
  (eglot-code-actions (point) nil "quickfix" t))
(expect (equal (line 6) "    [*] --> shut") (line 6))
(send-changes)
(wait-for (lambda () (null (flymake-diagnostics))) "the finding is still there")

(go-to 7 "shut")
(switch-to-buffer (current-buffer))
(let (told)
  (eglot-hover-eldoc-function (lambda (info &rest _) (when info (setq told info))))
  (wait-for (lambda () (and told (string-match-p "shut" told))) (format "hover: %S" told))
  (expect (string-match-p "push" told) told))

;; In prose after a sign of two UTF-16 units.
(go-to 12 "shut")
(let ((places (xref-backend-references 'eglot (xref-backend-identifier-at-point 'eglot))))
  (expect (= (length places) 4) (format "%S" places)))

(goto-char (point-min))
(forward-line 9)
(end-of-line)
(insert "\n    open --> ")
(let* ((completion (eglot-completion-at-point))
       (words (all-completions "" (nth 2 completion))))
  (dolist (word '("shut" "open" "[*]"))
    (expect (member word words) (format "no `%s' among %S" word words))))
(delete-region (line-beginning-position) (1+ (line-end-position)))

(go-to 7 "    shut -->")
(replace-match "  shut   -->")
(eglot-format-buffer)
(expect (equal (line 7) "    shut --> open : push") (line 7))

(go-to 7 "shut")
(eglot-rename "closed")
(expect (not (save-excursion (goto-char (point-min)) (re-search-forward "\\bshut\\b" nil t)))
        (buffer-string))
(expect (string-match-p "that is `closed` may" (buffer-string)) (buffer-string))

(set-buffer-modified-p nil)
(message "all is well, in Emacs %s with Eglot %s" emacs-version
         (if (boundp 'eglot--version) eglot--version
           (when-let* ((it (cadr (assq 'eglot package-alist))))
             (package-version-join (package-desc-version it)))))
(ignore-errors (eglot-shutdown (eglot-current-server)))
;;; emacs.el ends here
