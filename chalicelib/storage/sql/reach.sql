-- name: public
set local role larder_public

-- name: internal
set local role larder_internal
